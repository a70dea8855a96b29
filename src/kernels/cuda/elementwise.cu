// SPDX-License-Identifier: Apache-2.0
// Gates, sums, row selection and casts, eight elements a thread.
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/elementwise.h"

namespace nereid::kernels::cuda {
namespace {

constexpr int kThreads = 128;

LaunchShape shape_of(int64_t tokens, int64_t cols) {
  return {.grid = dim3(blocks_for(tokens * (cols / 8), kThreads)), .threads = kThreads};
}

template <typename T>
__global__ void gated_kernel(const __grid_constant__ GatedParams p) {
  start_next();
  wait_for_previous();
  const int64_t groups = p.cols / 8, i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.tokens * groups) return;
  const int64_t t = i / groups, col = i % groups * 8;
  float v[8], up[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  load8(static_cast<const T*>(p.gate) + t * p.gate_stride + col, v);
  if (p.up != nullptr) load8(static_cast<const T*>(p.up) + t * p.up_stride + col, up);
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] = activate(p.activation, v[j]) * up[j];
  store8(static_cast<T*>(p.y) + t * p.y_stride + col, v);
}

template <typename X, typename Y>
__global__ void scale_add_kernel(const __grid_constant__ ScaleAddParams p) {
  start_next();
  wait_for_previous();
  const int64_t groups = p.cols / 8, i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.tokens * groups) return;
  const int64_t t = i / groups, col = i % groups * 8;
  float v[8], b[8] = {};
  load8(static_cast<const X*>(p.x) + t * p.x_stride + col, v);
  if (p.b != nullptr) load8(static_cast<const X*>(p.b) + t * p.b_stride + col, b);
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    v[j] = fmaf(v[j], p.factor, b[j]);
    if (p.cap != 0.0f) v[j] = p.cap * tanhf(v[j] / p.cap);
  }
  store8(static_cast<Y*>(p.y) + t * p.y_stride + col, v);
}

template <typename X>
void scale_add_of(const ScaleAddParams& p, const Queue& queue) {
  const LaunchShape shape = shape_of(p.tokens, p.cols);
  switch (p.y_element) {
    case Element::kF32:
      return launch(scale_add_kernel<X, float>, p, shape, queue);
    case Element::kF16:
      return launch(scale_add_kernel<X, __half>, p, shape, queue);
    default:
      return launch(scale_add_kernel<X, __nv_bfloat16>, p, shape, queue);
  }
}

// Sixteen bytes a thread.
__global__ void select_rows_kernel(const __grid_constant__ SelectRowsParams p) {
  start_next();
  wait_for_previous();
  const int64_t bytes = p.element == Element::kF32 ? 4 : 2, pieces = p.cols * bytes / 16;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.count * pieces) return;
  const int64_t row = i / pieces, at = i % pieces * 16;
  const char* src = static_cast<const char*>(p.x) + p.rows[row] * p.x_stride * bytes + at;
  *reinterpret_cast<uint4*>(static_cast<char*>(p.y) + row * p.y_stride * bytes + at) =
      *reinterpret_cast<const uint4*>(src);
}

}  // namespace

void gated(const GatedParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  const LaunchShape shape = shape_of(params.tokens, params.cols);
  params.element == Element::kF16 ? launch(gated_kernel<__half>, params, shape, queue)
                                  : launch(gated_kernel<__nv_bfloat16>, params, shape, queue);
}

void scale_add(const ScaleAddParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  switch (params.x_element) {
    case Element::kF32:
      return scale_add_of<float>(params, queue);
    case Element::kF16:
      return scale_add_of<__half>(params, queue);
    default:
      return scale_add_of<__nv_bfloat16>(params, queue);
  }
}

void select_rows(const SelectRowsParams& params, const Queue& queue) {
  if (params.count == 0) return;
  launch(select_rows_kernel, params, shape_of(params.count, params.cols * element_bytes(params.element) / 2), queue);
}

}  // namespace nereid::kernels::cuda
