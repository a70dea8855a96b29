// SPDX-License-Identifier: Apache-2.0
// Attention of prompts over a paged cache: a block is 64 consecutive tokens of a sequence and one head, a warp 16 of
// them.
//
// Keys and values of 64 positions at a time go to shared memory, two tiles deep; scores, softmax with a running maximum
// (Milakov and Gimelshein 2018) and the weighted sum stay in registers: the scores' layout is the layout in which
// mma.m16n8k16 wants the weights. A token's result depends on its position alone: tiles begin at multiples of 64.
#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_prompt.cuh"
#include "kernels/cuda/device.cuh"

namespace nereid::kernels::cuda {
namespace {

constexpr int kThreads = 128, kQueries = 64, kTile = 64;  // positions

template <int kHeadDim>
struct Rows {
  static constexpr int kKey = 2 * kHeadDim + 64;    // bytes: lanes read 16 each of 8 rows
  static constexpr int kValue = 2 * kHeadDim + 16;  // bytes: 8 rows of 16 are read transposed
  static constexpr int kStage = kTile * (kKey + kValue);
};

template <typename T, typename Cache, int kHeadDim>
__global__ void __launch_bounds__(kThreads)
    attention_prefill_kernel(const __grid_constant__ AttentionPrefillParams job) {
  using R = Rows<kHeadDim>;
  constexpr int kRow = kHeadDim * static_cast<int>(sizeof(Cache)), kPieces = kRow / 16;
  constexpr int kStages = kHeadDim > 128 ? 1 : 2;
  extern __shared__ uint4 shared[];
  char* stages = reinterpret_cast<char*>(shared);
  const AttentionParams& p = job.common;
  start_next();
  wait_for_previous();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, quad = lane % 4;
  const int head = static_cast<int>(blockIdx.y), kv_head = head / (p.heads / p.kv_heads);
  const int begin_token = job.query_begin[blockIdx.z] + static_cast<int>(blockIdx.x) * kQueries;
  const int end_token = min(job.query_begin[blockIdx.z + 1], begin_token + kQueries);
  if (begin_token >= end_token) return;
  const int first_position = p.positions[begin_token], last_position = p.positions[end_token - 1];
  const int32_t* pages = p.page_table + p.sequence[begin_token] * p.pages_per_sequence;

  int token[2], position[2];
  uint32_t q[2][kHeadDim / 8];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    token[half] = begin_token + 16 * warp + g + 8 * half;
    const bool valid = token[half] < end_token;
    position[half] = valid ? p.positions[token[half]] : -1;
    const T* row = static_cast<const T*>(p.q) + static_cast<int64_t>(token[half]) * p.q_stride + head * kHeadDim;
#pragma unroll
    for (int b = 0; b < kHeadDim / 32; ++b) {
      const uint4 v = valid ? *reinterpret_cast<const uint4*>(row + 32 * b + 8 * quad) : make_uint4(0, 0, 0, 0);
      q[half][4 * b] = v.x, q[half][4 * b + 1] = v.y, q[half][4 * b + 2] = v.z, q[half][4 * b + 3] = v.w;
    }
  }
  const int window = static_cast<int>(p.window);
  const int first_seen = window > 0 && first_position + 1 > window ? first_position + 1 - window : 0;
  const int first_tile = first_seen / kTile, end_tile = last_position / kTile + 1;
  const int64_t page_bytes = static_cast<int64_t>(p.kv_heads) * p.page_tokens * kRow;
  const int64_t head_bytes = static_cast<int64_t>(kv_head) * p.page_tokens * kRow;

  const auto load_tile = [&](int tile) {
    char* keys = stages + tile % kStages * R::kStage;
    char* values = keys + kTile * R::kKey;
    int64_t place = head_bytes;  // lane i: of the i-th 16 positions
    if (lane < kTile / 16 && kTile * tile + 16 * lane <= last_position) {
      const int at = kTile * tile + 16 * lane, page = at / p.page_tokens;
      place += pages[page] * page_bytes + (at - page * p.page_tokens) * kRow;
    }
#pragma unroll
    for (int i = 0; i < kTile * kPieces / kThreads; ++i) {
      const int e = static_cast<int>(threadIdx.x) + kThreads * i, local = e / kPieces, piece = e % kPieces;
      const bool valid = kTile * tile + local <= last_position;
      const int64_t offset = __shfl_sync(0xffffffffu, place, local / 16) + local % 16 * kRow + 16 * piece;
      const char* key = static_cast<const char*>(p.k_cache) + offset;
      const char* value = static_cast<const char*>(p.v_cache) + offset;
      if constexpr (sizeof(Cache) == 2) {
        copy_async16(keys + local * R::kKey + 16 * piece, valid ? key : static_cast<const char*>(p.k_cache), valid);
        copy_async16(values + local * R::kValue + 16 * piece, valid ? value : static_cast<const char*>(p.v_cache),
                     valid);
      } else {
#pragma unroll
        for (int which = 0; which < 2; ++which) {
          const uint4 c = valid ? *reinterpret_cast<const uint4*>(which == 0 ? key : value) : make_uint4(0, 0, 0, 0);
          uint4* to =
              reinterpret_cast<uint4*>((which == 0 ? keys + local * R::kKey : values + local * R::kValue) + 32 * piece);
          to[0] = make_uint4(f8_as<T>(c.x), f8_as<T>(c.x >> 16), f8_as<T>(c.y), f8_as<T>(c.y >> 16));
          to[1] = make_uint4(f8_as<T>(c.z), f8_as<T>(c.z >> 16), f8_as<T>(c.w), f8_as<T>(c.w >> 16));
        }
      }
    }
    copy_async_commit();
  };

  constexpr bool kIsF8 = sizeof(Cache) == 1;
  const float k_factor = p.scale * (kIsF8 ? kF8Factor * p.k_scale : 1.0f);
  float total[kHeadDim / 8][4] = {}, most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
  if (kStages == 2 && first_tile < end_tile) load_tile(first_tile);
  for (int tile = first_tile; tile < end_tile; ++tile) {
    if constexpr (kStages == 1) load_tile(tile);
    if (kStages == 2 && tile + 1 < end_tile) {
      load_tile(tile + 1);
      copy_async_wait<1>();
    } else {
      copy_async_wait<0>();
    }
    __syncthreads();
    const char* keys = stages + tile % kStages * R::kStage;
    const char* values = keys + kTile * R::kKey;
    float s[kTile / 8][4] = {};
#pragma unroll
    for (int n = 0; n < kTile / 8; ++n) {
#pragma unroll
      for (int b = 0; b < kHeadDim / 32; ++b) {
        const uint4 k = *reinterpret_cast<const uint4*>(keys + (8 * n + g) * R::kKey + 64 * b + 16 * quad);
        mma<T>(s[n], q[0][4 * b], q[1][4 * b], q[0][4 * b + 1], q[1][4 * b + 1], k.x, k.y);
        mma<T>(s[n], q[0][4 * b + 2], q[1][4 * b + 2], q[0][4 * b + 3], q[1][4 * b + 3], k.z, k.w);
      }
    }
    float tile_most[2] = {-INFINITY, -INFINITY};
#pragma unroll
    for (int n = 0; n < kTile / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = kTile * tile + 8 * n + 2 * quad + i % 2, own = position[i / 2];
        float score = s[n][i] * k_factor;
        if (p.softcap != 0.0f) score = p.softcap * tanhf(score / p.softcap);
        const bool seen = at <= own && (window == 0 || at > own - window);
        s[n][i] = seen ? score : -INFINITY;
        tile_most[i / 2] = fmaxf(tile_most[i / 2], s[n][i]);
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float m = tile_most[half];
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      m = fmaxf(m, most[half]);
      const float base = m == -INFINITY ? 0.0f : m, factor = __expf(most[half] - base);
      most[half] = m;
      float tile_sum = 0.0f;
#pragma unroll
      for (int n = 0; n < kTile / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          float& x = s[n][2 * half + i];
          x = __expf(x - base);
          tile_sum += x;
        }
      }
      sum[half] = fmaf(sum[half], factor, tile_sum);  // of this lane's columns
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n) total[n][2 * half] *= factor, total[n][2 * half + 1] *= factor;
    }
#pragma unroll
    for (int step = 0; step < kTile / 32; ++step) {
      uint32_t w[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float(&a)[4] = s[4 * step + 2 * half];
        const float(&b)[4] = s[4 * step + 2 * half + 1];
        w[half][0] = pack2<T>(a[0], a[1]), w[half][1] = pack2<T>(a[2], a[3]);
        w[half][2] = pack2<T>(b[0], b[1]), w[half][3] = pack2<T>(b[2], b[3]);
      }
#pragma unroll
      for (int n = 0; n < kHeadDim / 8; ++n) {
        uint32_t v[4];
        load_transposed(values + (32 * step + lane) * R::kValue + 16 * n, v);
        mma<T>(total[n], w[0][0], w[0][1], w[0][2], w[0][3], v[0], v[1]);
        mma<T>(total[n], w[1][0], w[1][1], w[1][2], w[1][3], v[2], v[3]);
      }
    }
    __syncthreads();
  }
  const float v_factor = kIsF8 ? kF8Factor * p.v_scale : 1.0f;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float all = sum[half];
    all += __shfl_xor_sync(0xffffffffu, all, 1);
    all += __shfl_xor_sync(0xffffffffu, all, 2);
    if (token[half] >= end_token) continue;
    const float factor = position[half] < 0 ? 0.0f : v_factor / all;
    T* y = static_cast<T*>(p.y) + static_cast<int64_t>(token[half]) * p.y_stride + head * kHeadDim + 2 * quad;
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      *reinterpret_cast<uint32_t*>(y + 8 * n) = pack2<T>(total[n][2 * half] * factor, total[n][2 * half + 1] * factor);
    }
  }
}

template <typename T, typename Cache, int kHeadDim>
void launch_prefill(const AttentionPrefillParams& job, const Queue& queue) {
  launch(attention_prefill_kernel<T, Cache, kHeadDim>, job,
         {.grid = dim3(blocks_for(job.max_queries, kQueries), static_cast<unsigned>(job.common.heads),
                       static_cast<unsigned>(job.blocks)),
          .threads = kThreads,
          .shared_bytes = (kHeadDim > 128 ? 1 : 2) * Rows<kHeadDim>::kStage},
         queue);
}

template <typename T, typename Cache>
void prefill_dims(const AttentionPrefillParams& job, const Queue& queue) {
  switch (job.common.head_dim) {
    case 64:
      return launch_prefill<T, Cache, 64>(job, queue);
    case 96:
      return launch_prefill<T, Cache, 96>(job, queue);
    case 128:
      return launch_prefill<T, Cache, 128>(job, queue);
    default:
      return launch_prefill<T, Cache, 256>(job, queue);
  }
}

template <typename T>
void prefill_of(const AttentionPrefillParams& job, const Queue& queue) {
  job.common.cache == Element::kF8E4M3 ? prefill_dims<T, F8>(job, queue) : prefill_dims<T, T>(job, queue);
}

}  // namespace

void attention_prefill(const AttentionPrefillParams& params, const Queue& queue) {
  if (params.blocks == 0 || params.max_queries == 0) return;
  if (can_attention_prompt(params)) return attention_prompt(params, queue);
  params.common.element == Element::kF16 ? prefill_of<__half>(params, queue) : prefill_of<__nv_bfloat16>(params, queue);
}

}  // namespace nereid::kernels::cuda
