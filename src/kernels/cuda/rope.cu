// SPDX-License-Identifier: Apache-2.0
// Norms of heads, rotation, and the store into the paged cache: a warp a (token, head).
#include "kernels/cuda/device.cuh"
#include "kernels/cuda/rope.h"

namespace nereid::kernels::cuda {
namespace {

__global__ void rope_table_kernel(const __grid_constant__ RopeTableParams p) {
  start_next();
  wait_for_previous();
  const int half = p.rotary_dim / 2;
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.tokens * half) return;
  const int64_t t = i / half;
  const int j = static_cast<int>(i % half);
  float sine, cosine;
  sincosf(static_cast<float>(p.positions[t]) * p.inv_freq[j], &sine, &cosine);
  p.cos_sin[t * p.rotary_dim + j] = p.scale * cosine;
  p.cos_sin[t * p.rotary_dim + half + j] = p.scale * sine;
}

constexpr int kWarps = 4;

// Lane l holds the pairs (j, j + head_dim / 2) for j = l, l + 32, ...: rotations of a whole head by halves need no
// exchange. Narrower rotations and interleaved ones go through the warp's row of shared memory.
template <typename T, int kHeadDim>
__global__ void __launch_bounds__(32 * kWarps) rope_kv_kernel(const __grid_constant__ RopeKvParams p) {
  constexpr int kLanes = kHeadDim / 32;
  __shared__ float rows[kWarps][kHeadDim];
  start_next();
  wait_for_previous();
  const int heads_all = p.heads + (p.k == nullptr ? 0 : 2 * p.kv_heads);
  const int64_t index = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (index >= p.tokens * heads_all) return;
  const int64_t t = index / heads_all;
  int head = static_cast<int>(index % heads_all);
  const int lane = threadIdx.x % 32;
  float* row = rows[threadIdx.x / 32];
  const bool is_q = head < p.heads;
  head -= is_q ? 0 : p.heads;
  const bool is_v = !is_q && head >= p.kv_heads;
  head -= is_v ? p.kv_heads : 0;
  const T* src = is_q   ? static_cast<const T*>(p.q) + t * p.q_stride
                 : is_v ? static_cast<const T*>(p.v) + t * p.v_stride
                        : static_cast<const T*>(p.k) + t * p.k_stride;
  src += static_cast<int64_t>(head) * kHeadDim;
  float v[kLanes];
#pragma unroll
  for (int i = 0; i < kLanes; ++i) v[i] = to_float(src[32 * i + lane]);

  const float* norm = is_q ? p.q_norm : is_v ? nullptr : p.k_norm;
  if (norm != nullptr) {
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) squares = fmaf(v[i], v[i], squares);
    const float factor = rsqrtf(warp_sum(squares) / kHeadDim + p.norm_eps);
#pragma unroll
    for (int i = 0; i < kLanes; ++i) v[i] = v[i] * factor * norm[32 * i + lane];
  }
  if (!is_v && p.cos_sin != nullptr) {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) row[32 * i + lane] = v[i];
    __syncwarp();
    const float* cosines = p.cos_sin + t * p.rotary_dim;
    const int half = p.rotary_dim / 2;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      const int d = 32 * i + lane;
      if (d >= p.rotary_dim) continue;
      const int j = p.interleaved ? d / 2 : d % half;
      const bool is_second = p.interleaved ? d % 2 == 1 : d >= half;
      const int other = p.interleaved ? d ^ 1 : is_second ? d - half : d + half;
      const float sine = is_second ? cosines[half + j] : -cosines[half + j];
      v[i] = v[i] * cosines[j] + row[other] * sine;
    }
  }
  if (is_q) {
    T* q = static_cast<T*>(p.q) + t * p.q_stride + static_cast<int64_t>(head) * kHeadDim;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) q[32 * i + lane] = from_float<T>(v[i]);
    return;
  }
  const int32_t position = p.positions[t];
  if (position < 0) return;
  const int32_t page = p.page_table[p.sequence[t] * p.pages_per_sequence + position / p.page_tokens];
  const int64_t at =
      ((static_cast<int64_t>(page) * p.kv_heads + head) * p.page_tokens + position % p.page_tokens) * kHeadDim;
  void* cache = is_v ? p.v_cache : p.k_cache;
  if (p.cache == Element::kF8E4M3) {
    const float scale = 1.0f / (is_v ? p.v_scale : p.k_scale);
#pragma unroll
    for (int i = 0; i < kLanes; ++i) static_cast<uint8_t*>(cache)[at + 32 * i + lane] = to_f8(v[i] * scale);
  } else if (p.cache == Element::kF16) {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      const float finite = fminf(fmaxf(v[i], -65504.0f), 65504.0f);
      static_cast<__half*>(cache)[at + 32 * i + lane] = __float2half_rn(finite);
    }
  } else {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) static_cast<__nv_bfloat16*>(cache)[at + 32 * i + lane] = __float2bfloat16_rn(v[i]);
  }
}

template <typename T>
void rope_kv_of(const RopeKvParams& p, const Queue& queue) {
  const int64_t warps = p.tokens * (p.heads + (p.k == nullptr ? 0 : 2 * p.kv_heads));
  const LaunchShape shape = {.grid = dim3(blocks_for(warps, kWarps)), .threads = 32 * kWarps};
  switch (p.head_dim) {
    case 32:
      return launch(rope_kv_kernel<T, 32>, p, shape, queue);
    case 64:
      return launch(rope_kv_kernel<T, 64>, p, shape, queue);
    case 96:
      return launch(rope_kv_kernel<T, 96>, p, shape, queue);
    case 128:
      return launch(rope_kv_kernel<T, 128>, p, shape, queue);
    default:
      return launch(rope_kv_kernel<T, 256>, p, shape, queue);
  }
}

}  // namespace

void rope_table(const RopeTableParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  launch(rope_table_kernel, params,
         {.grid = dim3(blocks_for(params.tokens * params.rotary_dim / 2, 128)), .threads = 128}, queue);
}

void rope_kv(const RopeKvParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  params.element == Element::kF16 ? rope_kv_of<__half>(params, queue) : rope_kv_of<__nv_bfloat16>(params, queue);
}

}  // namespace nereid::kernels::cuda
