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

// kCount neighbours, 4 to 16 bytes or as many bytes.
template <int kCount, typename T>
__device__ __forceinline__ void load_some(const T* src, float (&v)[kCount]) {
  if constexpr (kCount * sizeof(T) == 4) {
    const float2 pair = unpack2<T>(*reinterpret_cast<const uint32_t*>(src));
    v[0] = pair.x, v[1] = pair.y;
  } else if constexpr (kCount * sizeof(T) == 8) {
    const uint2 words = *reinterpret_cast<const uint2*>(src);
    const float2 a = unpack2<T>(words.x), b = unpack2<T>(words.y);
    v[0] = a.x, v[1] = a.y, v[2] = b.x, v[3] = b.y;
  } else if constexpr (kCount == 8) {
    load8(src, v);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = to_float(src[i]);
  }
}
template <int kCount>
__device__ __forceinline__ void load_floats(const float* src, float (&v)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; i += 2) {
    const float2 pair = *reinterpret_cast<const float2*>(src + i);
    v[i] = pair.x, v[i + 1] = pair.y;
  }
}
template <int kCount, typename T>
__device__ __forceinline__ void store_some(T* dst, const float (&v)[kCount]) {
  if constexpr (kCount * sizeof(T) == 4) {
    *reinterpret_cast<uint32_t*>(dst) = pack2<T>(v[0], v[1]);
  } else if constexpr (kCount * sizeof(T) == 8) {
    *reinterpret_cast<uint2*>(dst) = make_uint2(pack2<T>(v[0], v[1]), pack2<T>(v[2], v[3]));
  } else if constexpr (kCount == 8) {
    store8(dst, v);
  } else {
#pragma unroll
    for (int i = 0; i < kCount; ++i) dst[i] = from_float<T>(v[i]);
  }
}

// What a lane holds of a head. Whole heads rotated by halves (kIsWhole): kHeadDim / 32 neighbours, whose partners lane
// ^ 16 has. Else every 32nd, and rotations go through the warp's row of shared memory.
template <typename T, int kHeadDim, bool kIsWhole>
__device__ __forceinline__ void rope_head(const RopeKvParams& p, int64_t t, int head) {
  constexpr int kLanes = kHeadDim / 32;
  __shared__ float rows[kIsWhole ? 1 : kWarps][kHeadDim];
  const int lane = threadIdx.x % 32;
  const auto dim_of = [lane](int i) { return kIsWhole ? kLanes * lane + i : 32 * i + lane; };
  const bool is_q = head < p.heads;
  head -= is_q ? 0 : p.heads;
  const bool is_v = !is_q && head >= p.kv_heads;
  head -= is_v ? p.kv_heads : 0;
  const T* src = is_q   ? static_cast<const T*>(p.q) + t * p.q_stride
                 : is_v ? static_cast<const T*>(p.v) + t * p.v_stride
                        : static_cast<const T*>(p.k) + t * p.k_stride;
  src += static_cast<int64_t>(head) * kHeadDim;
  float v[kLanes];
  if constexpr (kIsWhole) {
    load_some<kLanes>(src + kLanes * lane, v);
  } else {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) v[i] = to_float(src[32 * i + lane]);
  }

  const float* norm = is_q ? p.q_norm : is_v ? nullptr : p.k_norm;
  if (norm != nullptr) {
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) squares = fmaf(v[i], v[i], squares);
    const float factor = rsqrtf(warp_sum(squares) / kHeadDim + p.norm_eps);
#pragma unroll
    for (int i = 0; i < kLanes; ++i) v[i] = v[i] * factor * norm[dim_of(i)];
  }
  if (!is_v && p.cos_sin != nullptr) {
    const float* cosines = p.cos_sin + t * p.rotary_dim;
    const int half = p.rotary_dim / 2;
    if constexpr (kIsWhole) {
      float cosine[kLanes], sine[kLanes];
      load_floats(cosines + kLanes * (lane % 16), cosine);
      load_floats(cosines + half + kLanes * (lane % 16), sine);
#pragma unroll
      for (int i = 0; i < kLanes; ++i) {
        const float other = __shfl_xor_sync(0xffffffffu, v[i], 16);
        v[i] = v[i] * cosine[i] + other * (lane < 16 ? -sine[i] : sine[i]);
      }
    } else {
      float* row = rows[threadIdx.x / 32];
#pragma unroll
      for (int i = 0; i < kLanes; ++i) row[32 * i + lane] = v[i];
      __syncwarp();
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
  }
  const auto store = [&]<typename E>(E* to) {
    if constexpr (kIsWhole) {
      store_some<kLanes>(to + kLanes * lane, v);
    } else {
#pragma unroll
      for (int i = 0; i < kLanes; ++i) to[32 * i + lane] = from_float<E>(v[i]);
    }
  };
  if (is_q) {
    store(static_cast<T*>(p.q) + t * p.q_stride + static_cast<int64_t>(head) * kHeadDim);
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
    uint8_t* to = static_cast<uint8_t*>(cache) + at;
#pragma unroll
    for (int i = 0; i < kLanes; ++i) to[dim_of(i)] = to_f8(v[i] * scale);
  } else if (p.cache == Element::kF16) {
#pragma unroll
    for (int i = 0; i < kLanes; ++i) v[i] = fminf(fmaxf(v[i], -65504.0f), 65504.0f);
    store(static_cast<__half*>(cache) + at);
  } else {
    store(static_cast<__nv_bfloat16*>(cache) + at);
  }
}

// kHeads: heads that a warp takes one after the other.
template <typename T, int kHeadDim, bool kIsWhole, int kHeads>
__global__ void __launch_bounds__(32 * kWarps) rope_kv_kernel(const __grid_constant__ RopeKvParams p) {
  start_next();
  wait_for_previous();
  const int heads_all = p.heads + (p.k == nullptr ? 0 : 2 * p.kv_heads), parts = (heads_all + kHeads - 1) / kHeads;
  const int index = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / 32;
  if (index >= p.tokens * parts) return;
  const int64_t t = index / parts;
#pragma unroll
  for (int i = 0; i < kHeads; ++i) {
    const int head = index % parts * kHeads + i;
    if (head < heads_all) rope_head<T, kHeadDim, kIsWhole>(p, t, head);
  }
}

template <typename T, int kHeadDim>
void launch_rope_kv(const RopeKvParams& p, const Queue& queue) {
  constexpr int kMany = 4;
  const int64_t heads_all = p.heads + (p.k == nullptr ? 0 : 2 * p.kv_heads);
  if constexpr (kHeadDim % 64 == 0) {
    if (p.cos_sin == nullptr || (p.rotary_dim == kHeadDim && !p.interleaved)) {
      if (p.tokens * heads_all >= 512 * device_traits().multiprocessors) {
        return launch(
            rope_kv_kernel<T, kHeadDim, true, kMany>, p,
            {.grid = dim3(blocks_for(p.tokens * ((heads_all + kMany - 1) / kMany), kWarps)), .threads = 32 * kWarps},
            queue);
      }
      return launch(rope_kv_kernel<T, kHeadDim, true, 1>, p,
                    {.grid = dim3(blocks_for(p.tokens * heads_all, kWarps)), .threads = 32 * kWarps}, queue);
    }
  }
  launch(rope_kv_kernel<T, kHeadDim, false, 1>, p,
         {.grid = dim3(blocks_for(p.tokens * heads_all, kWarps)), .threads = 32 * kWarps}, queue);
}

template <typename T>
void rope_kv_of(const RopeKvParams& p, const Queue& queue) {
  switch (p.head_dim) {
    case 32:
      return launch_rope_kv<T, 32>(p, queue);
    case 64:
      return launch_rope_kv<T, 64>(p, queue);
    case 96:
      return launch_rope_kv<T, 96>(p, queue);
    case 128:
      return launch_rope_kv<T, 128>(p, queue);
    default:
      return launch_rope_kv<T, 256>(p, queue);
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
