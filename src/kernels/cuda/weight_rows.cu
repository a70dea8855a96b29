// SPDX-License-Identifier: Apache-2.0
// Rows of a weight as floats: those of a step's tokens (embedding), or a range of them (unpack).
#include "kernels/cuda/elementwise.h"
#include "kernels/cuda/weight_rows.cuh"

namespace nereid::kernels::cuda {
namespace {

template <typename T>
__global__ void embedding_kernel(const __grid_constant__ EmbeddingParams p) {
  start_next();
  wait_for_previous();
  const int64_t groups = p.weight.cols / 8, i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.tokens * groups) return;
  const int64_t t = i / groups, col = i % groups * 8;
  const int32_t id = p.ids[t];
  float v[8] = {};
  if (id >= 0 && id < p.weight.rows) weight_row8(p.weight, id, col, v);
#pragma unroll
  for (int j = 0; j < 8; ++j) v[j] *= p.factor;
  store8(static_cast<T*>(p.y) + t * p.y_stride + col, v);
}

template <typename T>
__global__ void unpack_kernel(const __grid_constant__ UnpackParams p) {
  start_next();
  wait_for_previous();
  const int64_t groups = p.weight.cols / 8, i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.count * groups) return;
  const int64_t row = i / groups, col = i % groups * 8;
  float v[8];
  weight_row8(p.weight, p.first + row, col, v);
  store8(static_cast<T*>(p.y) + row * p.y_stride + col, v);
}

constexpr int kThreads = 128;

}  // namespace

void embedding(const EmbeddingParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  const LaunchShape shape = {.grid = dim3(blocks_for(params.tokens * (params.weight.cols / 8), kThreads)),
                             .threads = kThreads};
  params.element == Element::kF16 ? launch(embedding_kernel<__half>, params, shape, queue)
                                  : launch(embedding_kernel<__nv_bfloat16>, params, shape, queue);
}

void unpack(const UnpackParams& params, const Queue& queue) {
  if (params.count == 0) return;
  const LaunchShape shape = {.grid = dim3(blocks_for(params.count * (params.weight.cols / 8), kThreads)),
                             .threads = kThreads};
  params.element == Element::kF16 ? launch(unpack_kernel<__half>, params, shape, queue)
                                  : launch(unpack_kernel<__nv_bfloat16>, params, shape, queue);
}

}  // namespace nereid::kernels::cuda
