// SPDX-License-Identifier: Apache-2.0
// Row norms: one block a row, the row in registers.
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/norm.h"

namespace nereid::kernels::cuda {
namespace {

// The row of a block, eight elements at a time a thread, with the residual added (and, where the sum is kept, rounded
// to T as whoever reads it later sees it). Columns past the end are zeros.
template <typename T, int kPieces, typename Params>
__device__ void load_row(const Params& p, int64_t row, float (&v)[kPieces][8]) {
  const T* x = static_cast<const T*>(p.x) + row * p.x_stride;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col < p.cols) {
      load8(x + col, v[i]);
    } else {
#pragma unroll
      for (int j = 0; j < 8; ++j) v[i][j] = 0.0f;
    }
  }
  if (p.residual == nullptr) return;
  const T* residual = static_cast<const T*>(p.residual) + row * p.residual_stride;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col >= p.cols) continue;
    float r[8];
    load8(residual + col, r);
#pragma unroll
    for (int j = 0; j < 8; ++j) v[i][j] += r[j];
  }
  if (p.sum == nullptr) return;
  T* sum = static_cast<T*>(p.sum) + row * p.sum_stride;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col >= p.cols) continue;
    const uint4 rounded = pack8<T>(v[i]);
    *reinterpret_cast<uint4*>(sum + col) = rounded;
    unpack8<T>(rounded, v[i]);
  }
}

template <typename T, int kPieces>
__global__ void __launch_bounds__(1024) rms_norm_kernel(const __grid_constant__ RmsNormParams p) {
  __shared__ float scratch[32];
  start_next();
  wait_for_previous();
  const int64_t row = blockIdx.x;
  float v[kPieces][8];
  load_row<T, kPieces>(p, row, v);
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) squares = fmaf(v[i][j], v[i][j], squares);
  }
  const float factor = rsqrtf(block_sum(squares, scratch) / static_cast<float>(p.cols) + p.eps);
  T* y = static_cast<T*>(p.y) + row * p.y_stride;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col >= p.cols) continue;
    float w[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (p.weight != nullptr) load8(p.weight + col, w);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] *= v[i][j] * factor;
    if (p.after != nullptr) {
      float after[8];
      load8(static_cast<const T*>(p.after) + row * p.after_stride + col, after);
#pragma unroll
      for (int j = 0; j < 8; ++j) w[j] += after[j];
    }
    store8(y + col, w);
  }
}

template <typename T, int kPieces>
__global__ void __launch_bounds__(1024) layer_norm_kernel(const __grid_constant__ LayerNormParams p) {
  __shared__ float scratch[2][32];
  start_next();
  wait_for_previous();
  const int64_t row = blockIdx.x;
  float v[kPieces][8];
  load_row<T, kPieces>(p, row, v);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += v[i][j];
  }
  const float mean = block_sum(sum, scratch[0]) / static_cast<float>(p.cols);
  float squares = 0.0f;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col >= p.cols) continue;
#pragma unroll
    for (int j = 0; j < 8; ++j) squares = fmaf(v[i][j] - mean, v[i][j] - mean, squares);
  }
  const float factor = rsqrtf(block_sum(squares, scratch[1]) / static_cast<float>(p.cols) + p.eps);
  T* y = static_cast<T*>(p.y) + row * p.y_stride;
#pragma unroll
  for (int i = 0; i < kPieces; ++i) {
    const int64_t col = 8 * (static_cast<int64_t>(i) * blockDim.x + threadIdx.x);
    if (col >= p.cols) continue;
    float w[8] = {1, 1, 1, 1, 1, 1, 1, 1}, b[8] = {};
    if (p.weight != nullptr) load8(p.weight + col, w);
    if (p.bias != nullptr) load8(p.bias + col, b);
#pragma unroll
    for (int j = 0; j < 8; ++j) w[j] = fmaf((v[i][j] - mean) * factor, w[j], b[j]);
    store8(y + col, w);
  }
}

struct Cut {
  int pieces, threads;
};
// The fewest pieces that leave at most 1024 threads; a row of 4096 is 512 threads with one piece each.
Cut cut_row(int64_t cols) {
  const int64_t groups = (cols + 7) / 8;
  int pieces = 1;
  while (groups > 1024 * pieces) pieces *= 2;
  const int64_t threads = (groups + pieces - 1) / pieces;
  return {pieces, static_cast<int>((threads + 31) / 32 * 32)};
}

template <typename T>
void rms_norm_of(const RmsNormParams& p, const Queue& queue) {
  const Cut cut = cut_row(p.cols);
  const LaunchShape shape = {.grid = dim3(static_cast<unsigned>(p.tokens)), .threads = cut.threads};
  switch (cut.pieces) {
    case 1:
      return launch(rms_norm_kernel<T, 1>, p, shape, queue);
    case 2:
      return launch(rms_norm_kernel<T, 2>, p, shape, queue);
    case 4:
      return launch(rms_norm_kernel<T, 4>, p, shape, queue);
    default:
      return launch(rms_norm_kernel<T, 8>, p, shape, queue);
  }
}

template <typename T>
void layer_norm_of(const LayerNormParams& p, const Queue& queue) {
  const Cut cut = cut_row(p.cols);
  const LaunchShape shape = {.grid = dim3(static_cast<unsigned>(p.tokens)), .threads = cut.threads};
  switch (cut.pieces) {
    case 1:
      return launch(layer_norm_kernel<T, 1>, p, shape, queue);
    case 2:
      return launch(layer_norm_kernel<T, 2>, p, shape, queue);
    case 4:
      return launch(layer_norm_kernel<T, 4>, p, shape, queue);
    default:
      return launch(layer_norm_kernel<T, 8>, p, shape, queue);
  }
}

}  // namespace

void rms_norm(const RmsNormParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  params.element == Element::kF16 ? rms_norm_of<__half>(params, queue) : rms_norm_of<__nv_bfloat16>(params, queue);
}

void layer_norm(const LayerNormParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  params.element == Element::kF16 ? layer_norm_of<__half>(params, queue) : layer_norm_of<__nv_bfloat16>(params, queue);
}

}  // namespace nereid::kernels::cuda
