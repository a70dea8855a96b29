// SPDX-License-Identifier: Apache-2.0
// Attention of prompts on Hopper: a block is 128 consecutive tokens of a sequence and one head, a warpgroup 64 of them.
// The copy engine brings keys and values, 128 positions at a time and two tiles deep, page by page. While a
// warpgroup's weights are multiplied with a tile's values, it takes the exponentials of the next tile's scores; the
// other warpgroup's products fill what is left.
//
// Scores, softmax with a running maximum (Milakov and Gimelshein 2018) and the weighted sum stay in registers: the
// scores' layout is the one in which wgmma takes the weights. Tiles begin at multiples of 128: a token's result
// depends on its position alone.
#include "kernels/cuda/attention_prompt.cuh"
#include "kernels/cuda/tensor_map.cuh"
#include "kernels/cuda/wgmma_left.cuh"

namespace nereid::kernels::cuda {
namespace {

constexpr int kThreads = 384, kConsumers = 256, kQueries = 128, kTile = 128;  // positions

struct PromptJob {
  CUtensorMap q, keys, values;  // of the cache: rows are positions of a head of a page
  AttentionPrefillParams p;
  int box = 0;  // positions that are copied at once: within a page
};

template <int kHeadDim>
struct Prompt {
  static constexpr int kHalves = kHeadDim / 64;            // tiles of 128-byte rows
  static constexpr int kTileBytes = kTile * 2 * kHeadDim;  // of keys, or values
  static constexpr int kQueryBytes = kQueries * 2 * kHeadDim;
  static constexpr int kSharedBytes = 4 * kTileBytes + kQueryBytes + 1024;
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

struct PromptBarriers {
  uint64_t q, key_full[2], key_empty[2], value_full[2], value_empty[2];
};

// The producer's warp. Lane i copies the i-th box of keys, or of values.
template <int kHeadDim>
__device__ __forceinline__ void produce(const PromptJob& job, char* q, char* keys, char* values, PromptBarriers* b,
                                        int begin_token, int last_position, int first_tile, int end_tile,
                                        const int32_t* pages, int head, int kv_head) {
  using P = Prompt<kHeadDim>;
  const AttentionParams& p = job.p.common;
  const int lane = threadIdx.x % 32, boxes = kTile / job.box;
  if (lane == 0) {
    barrier_expect(&b->q, P::kQueryBytes);
#pragma unroll
    for (int i = 0; i < 2 * P::kHalves; ++i) {  // of the first warpgroup, then of the second
      copy_tile(q + i * 64 * 128, &job.q, head * kHeadDim + 64 * (i % P::kHalves), begin_token + 64 * (i / P::kHalves),
                &b->q);
    }
  }
  const int place = lane % boxes, half = lane / boxes;  // of a box within the tile
  int stage = 0, phase = 0;
  for (int tile = first_tile; tile < end_tile; ++tile) {
    // Behind the last position there may be no page: something finite is brought in its place.
    const int at = min(kTile * tile + place * job.box, last_position / job.box * job.box), page = at / p.page_tokens;
    const int row = (pages[page] * p.kv_heads + kv_head) * p.page_tokens + at % p.page_tokens;
    const int to = stage * P::kTileBytes + half * kTile * 128 + place * job.box * 128;
    barrier_wait(&b->key_empty[stage], phase ^ 1);
    if (lane == 0) barrier_expect(&b->key_full[stage], P::kTileBytes);
    __syncwarp();
    if (half < P::kHalves) copy_tile(keys + to, &job.keys, 64 * half, row, &b->key_full[stage]);
    barrier_wait(&b->value_empty[stage], phase ^ 1);
    if (lane == 0) barrier_expect(&b->value_full[stage], P::kTileBytes);
    __syncwarp();
    if (half < P::kHalves) copy_tile(values + to, &job.values, 64 * half, row, &b->value_full[stage]);
    if (++stage == 2) stage = 0, phase ^= 1;
  }
}

__device__ __forceinline__ float power_of_2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// scores[64 x 128] = queries[64 x kHeadDim] keys[128 x kHeadDim]^T
template <typename T, int kHeadDim>
__device__ __forceinline__ void score(float (&scores)[kTile / 2], const char* queries, const char* keys) {
#pragma unroll
  for (int i = 0; i < kTile / 2; ++i) scores[i] = 0.0f;
  wgmma_fence();
#pragma unroll
  for (int half = 0; half < kHeadDim / 64; ++half) {
    const uint64_t a = tile_descriptor(queries + half * 64 * 128), k = tile_descriptor(keys + half * kTile * 128);
#pragma unroll
    for (int i = 0; i < 4; ++i) wgmma<T, kTile>(scores, a + 2 * i, k + 2 * i);
  }
  wgmma_commit();
}

#endif

template <typename T, int kHeadDim>
__global__ void __launch_bounds__(kThreads, 1) attention_prompt_kernel(const __grid_constant__ PromptJob job) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using P = Prompt<kHeadDim>;
  extern __shared__ uint4 shared[];
  __shared__ PromptBarriers barriers;
  const uint32_t misplaced = static_cast<uint32_t>(__cvta_generic_to_shared(shared)) % 1024;
  char* keys = reinterpret_cast<char*>(shared) + (1024 - misplaced) % 1024;
  char *values = keys + 2 * P::kTileBytes, *queries = values + 2 * P::kTileBytes;
  const AttentionParams& p = job.p.common;
  start_next();
  if (threadIdx.x == 0) {
    barrier_init(&barriers.q, 1);
    for (int s = 0; s < 2; ++s) {
      barrier_init(&barriers.key_full[s], 1);
      barrier_init(&barriers.key_empty[s], 2);
      barrier_init(&barriers.value_full[s], 1);
      barrier_init(&barriers.value_empty[s], 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  wait_for_previous();
  // The last tokens see the most: their blocks come first.
  const int part = static_cast<int>(gridDim.x - 1 - blockIdx.x);
  const int begin_token = job.p.query_begin[blockIdx.z] + part * kQueries;
  const int end_token = min(job.p.query_begin[blockIdx.z + 1], begin_token + kQueries);
  if (begin_token >= end_token) return;
  const int first_position = p.positions[begin_token], last_position = first_position + end_token - begin_token - 1;
  const int window = static_cast<int>(p.window);
  const int first_seen = window > 0 && first_position + 1 > window ? first_position + 1 - window : 0;
  const int first_tile = first_seen / kTile, end_tile = last_position / kTile + 1;
  const int head = static_cast<int>(blockIdx.y), kv_head = head / (p.heads / p.kv_heads);
  const int group = threadIdx.x / 128;
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < kConsumers + 32) {
      produce<kHeadDim>(job, queries, keys, values, &barriers, begin_token, last_position, first_tile, end_tile,
                        p.page_table + p.sequence[begin_token] * p.pages_per_sequence, head, kv_head);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32, g = lane / 4, quad = lane % 4;
  const bool is_first = threadIdx.x % 128 == 0;
  const int own_row = 64 * group + 16 * warp + g;  // and 8 more
  const int group_first = first_position + 64 * group, group_last = min(group_first + 63, last_position);
  int position[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = own_row + 8 * half;
    position[half] = begin_token + row < end_token ? first_position + row : -1;
  }
  const char* mine = queries + group * P::kHalves * 64 * 128;
  const float to_power = (p.softcap != 0.0f ? 1.0f : p.scale) * 1.44269504088896340736f;
  float scores[kTile / 2], total[kHeadDim / 2], most[2] = {-INFINITY, -INFINITY}, sum[2] = {};
#pragma unroll
  for (int i = 0; i < kHeadDim / 2; ++i) total[i] = 0.0f;
  uint32_t weights[kTile / 16][4];
  barrier_wait(&barriers.q, 0);
  barrier_wait(&barriers.key_full[0], 0);
  score<T, kHeadDim>(scores, mine, keys);
  wgmma_wait<0>();
  if (is_first) barrier_arrive(&barriers.key_empty[0]);
  int stage = 0, phase = 0;  // of the tile whose scores are there
  float factor[2];
  // Scores of a tile become weights, as f32; what is summed up so far is to be multiplied by `factor`.
  const auto soften = [&](int tile) {
    const int base = kTile * tile;
    if (p.softcap != 0.0f) {
#pragma unroll
      for (int i = 0; i < kTile / 2; ++i) scores[i] = p.softcap * tanhf(scores[i] * p.scale / p.softcap);
    }
    const bool all_seen = base + kTile - 1 <= group_first && begin_token + 64 * group + 63 < end_token &&
                          (window == 0 || base > group_last - window);
    if (!all_seen) {
#pragma unroll
      for (int i = 0; i < kTile / 2; ++i) {
        const int at = base + 8 * (i / 4) + 2 * quad + i % 2, own = position[i / 2 % 2];
        if (at > own || (window > 0 && at <= own - window)) scores[i] = -INFINITY;
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float m = most[half];
#pragma unroll
      for (int i = 0; i < kTile / 4; ++i) m = fmaxf(m, scores[4 * (i / 2) + 2 * half + i % 2]);
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, 2));
      const float offset = m == -INFINITY ? 0.0f : m * to_power;
      factor[half] = power_of_2(fmaf(most[half], to_power, -offset));
      most[half] = m;
      float tile_sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kTile / 4; ++i) {
        float& s = scores[4 * (i / 2) + 2 * half + i % 2];
        s = power_of_2(fmaf(s, to_power, -offset));
        tile_sum += s;
      }
      sum[half] = fmaf(sum[half], factor[half], tile_sum);  // of this lane's columns
    }
  };
  const auto pack_weights = [&] {
#pragma unroll
    for (int i = 0; i < kHeadDim / 2; ++i) total[i] *= factor[i / 2 % 2];
#pragma unroll
    for (int s = 0; s < kTile / 16; ++s) {
#pragma unroll
      for (int i = 0; i < 4; ++i) weights[s][i] = pack2<T>(scores[8 * s + 2 * i], scores[8 * s + 2 * i + 1]);
    }
  };
  const auto weigh = [&](const char* v) {
    wgmma_fence();
#pragma unroll
    for (int s = 0; s < kTile / 16; ++s) {
      wgmma_left<T, kHeadDim, true>(total, weights[s], transposed_descriptor(v + s * 16 * 128, kTile * 128));
    }
    wgmma_commit();
  };
  for (int tile = first_tile; tile < end_tile - 1; ++tile) {
    soften(tile);
    wgmma_wait<0>();  // the values of the tile before
    if (tile > first_tile && is_first) barrier_arrive(&barriers.value_empty[stage ^ 1]);
    pack_weights();
    const int next_stage = stage ^ 1, next_phase = stage == 1 ? phase ^ 1 : phase;
    barrier_wait(&barriers.key_full[next_stage], next_phase);
    score<T, kHeadDim>(scores, mine, keys + next_stage * P::kTileBytes);
    barrier_wait(&barriers.value_full[stage], phase);
    weigh(values + stage * P::kTileBytes);
    wgmma_wait<1>();  // the next scores
    if (is_first) barrier_arrive(&barriers.key_empty[next_stage]);
    stage = next_stage, phase = next_phase;
  }
  soften(end_tile - 1);
  wgmma_wait<0>();
  pack_weights();
  barrier_wait(&barriers.value_full[stage], phase);
  char* v = values + stage * P::kTileBytes;
  const int unseen = kTile * end_tile - 1 - last_position;  // positions at the last tile's end
  if (unseen > 0) {
    // What was never stored may be anything, and nothing times that is not nothing.
    for (int e = static_cast<int>(threadIdx.x); e < unseen * 8 * P::kHalves; e += kConsumers) {
      const int row = kTile - unseen + e / 8 % unseen, half = e / 8 / unseen;
      *reinterpret_cast<uint4*>(v + half * kTile * 128 + row * 128 + e % 8 * 16) = make_uint4(0, 0, 0, 0);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("bar.sync 1, 256;" ::: "memory");
  }
  weigh(v);
  wgmma_wait<0>();
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float all = sum[half];
    all += __shfl_xor_sync(0xffffffffu, all, 1);
    all += __shfl_xor_sync(0xffffffffu, all, 2);
    const int token = begin_token + own_row + 8 * half;
    if (token >= end_token) continue;
    const float factor = 1.0f / all;
    T* y = static_cast<T*>(p.y) + static_cast<int64_t>(token) * p.y_stride + head * kHeadDim + 2 * quad;
#pragma unroll
    for (int n = 0; n < kHeadDim / 8; ++n) {
      *reinterpret_cast<uint32_t*>(y + 8 * n) =
          pack2<T>(total[4 * n + 2 * half] * factor, total[4 * n + 2 * half + 1] * factor);
    }
  }
#endif
}

template <typename T, int kHeadDim>
void launch_prompt(const AttentionPrefillParams& params, const Queue& queue) {
  const AttentionParams& p = params.common;
  PromptJob job = {.p = params};
  while (job.box == 0 || (p.page_tokens % (2 * job.box) == 0 && job.box < kTile))
    job.box = job.box == 0 ? 16 : 2 * job.box;
  constexpr int64_t kRows = (int64_t{1} << 31) - 1;  // as many as an index may have; the cache's pages end before
  job.q = tile_map(p.element, p.q, p.tokens, int64_t{p.heads} * kHeadDim, p.q_stride, 64);
  job.keys = tile_map(p.element, p.k_cache, kRows, kHeadDim, kHeadDim, job.box);
  job.values = tile_map(p.element, p.v_cache, kRows, kHeadDim, kHeadDim, job.box);
  launch(attention_prompt_kernel<T, kHeadDim>, job,
         {.grid = dim3(blocks_for(params.max_queries, kQueries), static_cast<unsigned>(p.heads),
                       static_cast<unsigned>(params.blocks)),
          .threads = kThreads,
          .shared_bytes = Prompt<kHeadDim>::kSharedBytes},
         queue);
}

}  // namespace

bool can_attention_prompt(const AttentionPrefillParams& params) {
  const AttentionParams& p = params.common;
  return (p.head_dim == 64 || p.head_dim == 128) && p.cache == p.element && can_map_tiles();
}

void attention_prompt(const AttentionPrefillParams& params, const Queue& queue) {
  const bool is_64 = params.common.head_dim == 64;
  if (params.common.element == Element::kF16) {
    is_64 ? launch_prompt<__half, 64>(params, queue) : launch_prompt<__half, 128>(params, queue);
  } else {
    is_64 ? launch_prompt<__nv_bfloat16, 64>(params, queue) : launch_prompt<__nv_bfloat16, 128>(params, queue);
  }
}

}  // namespace nereid::kernels::cuda
