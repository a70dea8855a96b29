// SPDX-License-Identifier: Apache-2.0
// Attention of single tokens over a paged cache: a block a (token, key/value head, chunk of 128 positions).
//
// Both products by mma.m16n8k16, the query heads of a group as rows. Scores: positions are the columns; keys come
// straight from the cache into registers (the order of the dimensions within a sum is free, so a lane reads 16 bytes at
// a time). Values are on their way to shared memory meanwhile; a warp weighs a quarter of their dimensions.
#include "kernels/cuda/attention.h"
#include "kernels/cuda/device.cuh"

namespace nereid::kernels::cuda {
namespace {

constexpr int kThreads = 128, kWarps = kThreads / 32, kMine = kChunkPositions / kWarps;  // positions of a warp
constexpr int kMaxCluster = 8;
constexpr int kScoreRow = kChunkPositions + 4;  // floats; the padding keeps lanes out of each other's banks

struct DecodeJob {
  AttentionParams p;
  int splits = 1;
  int chunks = 1;       // of max_positions: rows of the workspace a (token, head)
  int head_groups = 1;  // blocks that share a key/value head
  int cluster = 1;      // blocks along the chunks
  int* counters = nullptr;
  float* partials = nullptr;  // [tokens][heads][chunks]{maximum, sum, 2 unused, [head_dim]}
};

template <int kHeadDim>
constexpr int kPartial = kHeadDim + 4;

// Sixteen f8 as 32 bytes of T.
template <typename T>
__device__ __forceinline__ void spread_f8(const uint4& codes, uint4& low, uint4& high) {
  low = make_uint4(f8_as<T>(codes.x), f8_as<T>(codes.x >> 16), f8_as<T>(codes.y), f8_as<T>(codes.y >> 16));
  high = make_uint4(f8_as<T>(codes.z), f8_as<T>(codes.z >> 16), f8_as<T>(codes.w), f8_as<T>(codes.w >> 16));
}

// What is known of a row's chunks so far. Wherever chunks meet they are added one after the other in this way, so a
// result has the same bits whoever adds.
struct Merged {
  float most = -INFINITY, total = 0.0f;

  // Takes in a chunk's maximum and sum; x: the factor of what was summed up before, y: of the chunk's.
  __device__ float2 add(float chunk_most, float chunk_total) {
    const float now = fmaxf(most, chunk_most);
    const float2 factors = make_float2(__expf(most - now), __expf(chunk_most - now));
    most = now;
    total = fmaf(chunk_total, factors.y, __fmul_rn(total, factors.x));
    return factors;
  }
  __device__ static float weigh(const float2& factors, float sum, float chunk_sum) {
    return fmaf(chunk_sum, factors.y, __fmul_rn(sum, factors.x));
  }
};

// kHeads: rows of the matrix instruction in use, 8 or 16.
template <typename T, typename Cache, int kHeadDim, int kHeads>
__global__ void __launch_bounds__(kThreads, kHeadDim <= 64    ? 3
                                            : kHeadDim <= 128 ? 2
                                                              : 1)
    attention_decode_kernel(const __grid_constant__ DecodeJob job) {
  constexpr bool kIsF8 = sizeof(Cache) == 1;
  constexpr int kRow = kHeadDim * static_cast<int>(sizeof(Cache));  // bytes of a position
  constexpr int kBlock = kIsF8 ? 64 : 32;                           // dimensions that four lanes read at once
  constexpr int kBlocks = kHeadDim / kBlock;
  constexpr int kValueRow = 2 * kHeadDim + 16;  // bytes in shared memory
  constexpr int kPieces = kRow / 16, kEach = kChunkPositions * kPieces / kThreads;
  constexpr int kRound = kHeadDim > 128 && !kIsF8 ? 2 : kMine / 8;  // blocks of 8 keys in registers at a time
  constexpr int kBuffer = kChunkPositions * kValueRow;
  extern __shared__ uint4 shared[];
  char* values = reinterpret_cast<char*>(shared);  // [2, in 8 bits 1][128][kValueRow]
  __shared__ float scores[kHeads][kScoreRow];
  __shared__ float chunk_max[kHeads], chunk_sum[kHeads];
  __shared__ bool is_last;
  const AttentionParams& p = job.p;
  start_next();
  const int t = static_cast<int>(blockIdx.y), split = static_cast<int>(blockIdx.z);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, quad = lane % 4;
  // Where no other token of the step is of this one's sequence, only its own position is written by a kernel in front.
  bool is_early = false;
  if (p.settled && p.tokens <= 32) {
    const int other = lane < p.tokens ? p.sequence[lane] : -1;
    const bool is_real = lane < p.tokens && p.positions[lane] >= 0;
    const int mine = __shfl_sync(0xffffffffu, other, t);
    is_early = !__any_sync(0xffffffffu, is_real && lane != t && other == mine);
  }
  if (!is_early) wait_for_previous();

  const int position = p.positions[t];
  const int32_t* pages = p.page_table + p.sequence[t] * p.pages_per_sequence;
  const int kv_head = static_cast<int>(blockIdx.x) / job.head_groups;
  const int group = p.heads / p.kv_heads;
  const int first_head = kv_head * group + static_cast<int>(blockIdx.x) % job.head_groups * kHeads;
  const int heads = min(kHeads, (kv_head + 1) * group - first_head);

  const int begin = p.window > 0 && position + 1 > p.window ? position + 1 - static_cast<int>(p.window) : 0;
  const int first_chunk = begin / kChunkPositions, end_chunk = position / kChunkPositions + 1;
  T* y = static_cast<T*>(p.y) + t * p.y_stride;
  if (position < 0) {
    if (is_early) wait_for_previous();
    if (split == 0) {
      for (int e = threadIdx.x; e < heads * kHeadDim; e += kThreads) y[first_head * kHeadDim + e] = from_float<T>(0.0f);
    }
    return;
  }
  const int64_t page_bytes = static_cast<int64_t>(p.kv_heads) * p.page_tokens * kRow;
  const int64_t head_bytes = static_cast<int64_t>(kv_head) * p.page_tokens * kRow;
  const float k_factor = p.scale * (kIsF8 ? kF8Factor * p.k_scale : 1.0f);
  const float v_factor = kIsF8 ? kF8Factor * p.v_scale : 1.0f;
  const bool alone = end_chunk - first_chunk == 1;
  const bool in_cluster = !alone && end_chunk - first_chunk <= job.cluster;  // a chunk a block of the first cluster
  const bool owns_all = !alone && !in_cluster && job.splits == 1;
  if (in_cluster && split >= job.cluster) return;
  float* sums = reinterpret_cast<float*>(shared);  // in a cluster: [kHeads][kHeadDim], where its values were

  // Lane i knows where the i-th 16 positions of a chunk lie (pages are whole sixteens): the others ask it.
  const auto place_of = [&](int chunk) {
    int64_t place = head_bytes;
    const int at = chunk * kChunkPositions + 16 * lane;
    if (lane < kChunkPositions / 16 && at <= position) {
      const int page = at / p.page_tokens;
      place += pages[page] * page_bytes + (at - page * p.page_tokens) * kRow;
    }
    return place;
  };
  // Position 16 * sixteen + of of a chunk.
  const auto cached = [&](const void* cache, int64_t place, int sixteen, int of) {
    return static_cast<const char*>(cache) + __shfl_sync(0xffffffffu, place, sixteen) + of * kRow;
  };
  // A thread's i-th piece of 16 bytes of the values. The constants are spelt out, or each takes a register of its own.
  const int thread_row = static_cast<int>(threadIdx.x) / kPieces,
            thread_piece = static_cast<int>(threadIdx.x) % kPieces;
  struct Piece {
    int sixteen, of, piece;
  };
  const auto piece_of = [&](int i) -> Piece {
    if constexpr (kThreads % kPieces == 0) {
      constexpr int kRowsAtOnce = kThreads / kPieces;
      if constexpr (kRowsAtOnce >= 16) {
        return {kRowsAtOnce / 16 * i + thread_row / 16, thread_row % 16, thread_piece};
      } else {
        return {kRowsAtOnce * i / 16, kRowsAtOnce * i % 16 + thread_row, thread_piece};
      }
    } else {
      const int e = static_cast<int>(threadIdx.x) + kThreads * i;
      return {e / kPieces / 16, e / kPieces % 16, e % kPieces};
    }
  };
  uint4 keys[kRound][kBlocks];
  uint4 codes[kIsF8 ? kEach : 1];  // values in 8 bits go through registers
  // `end`: positions from here on are zeros.
  const auto load_keys = [&](int64_t place, int base, int end, int round) {
    const int mine = base + warp * kMine + g;
#pragma unroll
    for (int n = 0; n < kRound; ++n) {
      const char* key = cached(p.k_cache, place, kMine / 16 * warp + (round + n) / 2, 8 * (n % 2) + g) + 16 * quad;
#pragma unroll
      for (int b = 0; b < kBlocks; ++b) {
        keys[n][b] = mine + 8 * (round + n) < end ? load_stream(key + 64 * b) : make_uint4(0, 0, 0, 0);
      }
    }
  };
  const auto load_values = [&](int64_t place, int base, int end, char* to) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const Piece at = piece_of(i);
      const int local = 16 * at.sixteen + at.of;
      const bool valid = base + local < end;
      const char* value = cached(p.v_cache, place, at.sixteen, at.of) + 16 * at.piece;
      if constexpr (kIsF8) {
        codes[i] = valid ? load_stream(value) : make_uint4(0, 0, 0, 0);
      } else {
        copy_async16(to + local * kValueRow + 16 * at.piece, valid ? value : static_cast<const char*>(p.v_cache),
                     valid);
      }
    }
  };

  int chunk = first_chunk + split;
  const bool works = chunk < end_chunk;
  int64_t place = place_of(chunk), next_place = place_of(chunk + job.splits);
  if (works) {
    const int end = is_early ? position : position + 1;
    load_keys(place, chunk * kChunkPositions, end, 0);
    load_values(place, chunk * kChunkPositions, end, values);
  }
  if (is_early) {
    wait_for_previous();
    const int base = chunk * kChunkPositions;
    if (works && position < base + kChunkPositions) {  // the token's own, which is there now
#pragma unroll
      for (int n = 0; n < kRound; ++n) {
        const char* key = cached(p.k_cache, place, kMine / 16 * warp + n / 2, 8 * (n % 2) + g) + 16 * quad;
        if (base + warp * kMine + 8 * n + g != position) continue;
#pragma unroll
        for (int b = 0; b < kBlocks; ++b) keys[n][b] = __ldcg(reinterpret_cast<const uint4*>(key + 64 * b));
      }
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Piece at = piece_of(i);
        const int local = 16 * at.sixteen + at.of;
        const char* value = cached(p.v_cache, place, at.sixteen, at.of) + 16 * at.piece;
        if (base + local != position) continue;
        if constexpr (kIsF8) {
          codes[i] = __ldcg(reinterpret_cast<const uint4*>(value));
        } else {
          copy_async16(values + local * kValueRow + 16 * at.piece, value, true);
        }
      }
    }
  }
  copy_async_commit();

  // The queries as the left matrix: rows g and g + 8 are heads.
  const T* q = static_cast<const T*>(p.q) + t * p.q_stride + static_cast<int64_t>(first_head) * kHeadDim;
  uint32_t q_low[kHeadDim / 8], q_high[kHeadDim / 8];
#pragma unroll
  for (int b = 0; b < kBlocks; ++b) {
#pragma unroll
    for (int i = 0; i < kBlock / 32; ++i) {
      const int dim = kBlock * b + kBlock / 4 * quad + 8 * i, at = 4 * (kBlock / 32 * b + i);
      uint4 low = make_uint4(0, 0, 0, 0), high = low;
      if (g < heads) low = *reinterpret_cast<const uint4*>(q + g * kHeadDim + dim);
      if (kHeads > 8 && g + 8 < heads) high = *reinterpret_cast<const uint4*>(q + (g + 8) * kHeadDim + dim);
      q_low[at] = low.x, q_low[at + 1] = low.y, q_low[at + 2] = low.z, q_low[at + 3] = low.w;
      q_high[at] = high.x, q_high[at + 1] = high.y, q_high[at + 2] = high.z, q_high[at + 3] = high.w;
    }
  }

  constexpr int kTiles = kHeadDim / 8 / kWarps;  // of 8 dimensions, a warp
  float all[kTiles][4] = {};                     // of the chunks so far, where this block has them all
  Merged merged[2];
  int buffer = 0;
  for (; chunk < end_chunk; chunk += job.splits) {
    const int base = chunk * kChunkPositions, next_base = base + job.splits * kChunkPositions;
    const int count = min(kChunkPositions, position + 1 - base);
    const bool more = chunk + job.splits < end_chunk;
    const int64_t after_next = place_of(chunk + 2 * job.splits);
    char* here = values + buffer * kBuffer;
    if constexpr (!kIsF8) {
      if (more) load_values(next_place, next_base, position + 1, values + (buffer ^ 1) * kBuffer);
      copy_async_commit();
    }

#pragma unroll
    for (int round = 0; round < kMine / 8; round += kRound) {
      if (round > 0) load_keys(place, base, position + 1, round);
#pragma unroll
      for (int n = 0; n < kRound; ++n) {
        float s[4] = {};
#pragma unroll
        for (int b = 0; b < kBlocks; ++b) {
          uint4 k = keys[n][b], k_high = make_uint4(0, 0, 0, 0);
          if constexpr (kIsF8) spread_f8<T>(keys[n][b], k, k_high);
          const int at = kBlock / 8 * b;
          mma<T>(s, q_low[at], q_high[at], q_low[at + 1], q_high[at + 1], k.x, k.y);
          mma<T>(s, q_low[at + 2], q_high[at + 2], q_low[at + 3], q_high[at + 3], k.z, k.w);
          if constexpr (kIsF8) {
            mma<T>(s, q_low[at + 4], q_high[at + 4], q_low[at + 5], q_high[at + 5], k_high.x, k_high.y);
            mma<T>(s, q_low[at + 6], q_high[at + 6], q_low[at + 7], q_high[at + 7], k_high.z, k_high.w);
          }
        }
#pragma unroll
        for (int i = 0; i < (kHeads > 8 ? 4 : 2); ++i) {
          const int head = g + 8 * (i / 2), local = warp * kMine + 8 * (round + n) + 2 * quad + i % 2;
          float score = s[i] * k_factor;
          if (p.softcap != 0.0f) score = p.softcap * tanhf(score / p.softcap);
          const bool seen = base + local <= position && base + local >= begin;
          scores[head][local] = seen ? score : -INFINITY;
        }
      }
    }
    if constexpr (kIsF8) {
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        const Piece at = piece_of(i);
        uint4* to = reinterpret_cast<uint4*>(here + (16 * at.sixteen + at.of) * kValueRow + 32 * at.piece);
        spread_f8<T>(codes[i], to[0], to[1]);
      }
      if (more) load_values(next_place, next_base, position + 1, nullptr);
    }
    if (more) load_keys(next_place, next_base, position + 1, 0);
    __syncthreads();
    for (int head = warp; head < heads; head += kWarps) {
      float s[kChunkPositions / 32], most = -INFINITY, sum = 0.0f;
#pragma unroll
      for (int i = 0; i < kChunkPositions / 32; ++i) {
        s[i] = scores[head][32 * i + lane];
        most = fmaxf(most, s[i]);
      }
      most = warp_max(most);
#pragma unroll
      for (int i = 0; i < kChunkPositions / 32; ++i) {
        s[i] = __expf(s[i] - most);
        sum += s[i];
        scores[head][32 * i + lane] = s[i];
      }
      sum = warp_sum(sum);
      if (lane == 0) chunk_max[head] = most, chunk_sum[head] = sum;
    }
    copy_async_wait<kIsF8 ? 0 : 1>();
    __syncthreads();

    float total[kTiles][4] = {};
#pragma unroll
    for (int step = 0; step < kChunkPositions / 32; ++step) {
      if (32 * step >= count) break;
      uint32_t weights[2][4] = {};
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = 32 * step + 16 * half + 2 * quad;
        const float2 a = *reinterpret_cast<const float2*>(&scores[g][at]);
        const float2 b = *reinterpret_cast<const float2*>(&scores[g][at + 8]);
        weights[half][0] = pack2<T>(a.x, a.y), weights[half][2] = pack2<T>(b.x, b.y);
        if constexpr (kHeads > 8) {
          const float2 c = *reinterpret_cast<const float2*>(&scores[g + 8][at]);
          const float2 d = *reinterpret_cast<const float2*>(&scores[g + 8][at + 8]);
          weights[half][1] = pack2<T>(c.x, c.y), weights[half][3] = pack2<T>(d.x, d.y);
        }
      }
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        uint32_t v[4];
        load_transposed(here + (32 * step + lane) * kValueRow + 16 * (warp * kTiles + n), v);
        mma<T>(total[n], weights[0][0], weights[0][1], weights[0][2], weights[0][3], v[0], v[1]);
        mma<T>(total[n], weights[1][0], weights[1][1], weights[1][2], weights[1][3], v[2], v[3]);
      }
    }
    if (in_cluster) __syncthreads();  // values are read
#pragma unroll
    for (int i = 0; i < (kHeads > 8 ? 2 : 1); ++i) {
      const int head = g + 8 * i;
      if (head >= heads) continue;
      if (owns_all) {
        const float2 factors = merged[i].add(chunk_max[head], chunk_sum[head]);
#pragma unroll
        for (int n = 0; n < kTiles; ++n) {
#pragma unroll
          for (int k = 2 * i; k < 2 * i + 2; ++k) {
            all[n][k] = Merged::weigh(factors, all[n][k], __fmul_rn(total[n][k], v_factor));
          }
        }
        continue;
      }
      const float factor = alone ? v_factor / chunk_sum[head] : v_factor;
      float* partial = job.partials + ((static_cast<int64_t>(t) * p.heads + first_head + head) * job.chunks + chunk) *
                                          kPartial<kHeadDim>;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        const int dim = 8 * (warp * kTiles + n) + 2 * quad;
        const float a = __fmul_rn(total[n][2 * i], factor), b = __fmul_rn(total[n][2 * i + 1], factor);
        if (alone) {
          *reinterpret_cast<uint32_t*>(y + (first_head + head) * kHeadDim + dim) = pack2<T>(a, b);
        } else if (in_cluster) {
          *reinterpret_cast<float2*>(sums + head * kHeadDim + dim) = make_float2(a, b);
        } else {
          *reinterpret_cast<float2*>(partial + 4 + dim) = make_float2(a, b);
        }
      }
      if (!alone && !in_cluster && warp == 0 && quad == 0) partial[0] = chunk_max[head], partial[1] = chunk_sum[head];
    }
    __syncthreads();
    place = next_place, next_place = after_next;
    buffer = kIsF8 ? 0 : buffer ^ 1;
  }
  copy_async_wait<0>();
  if (alone) return;
  if (owns_all) {
#pragma unroll
    for (int i = 0; i < (kHeads > 8 ? 2 : 1); ++i) {
      const int head = g + 8 * i;
      if (head >= heads) continue;
      const float factor = 1.0f / merged[i].total;
#pragma unroll
      for (int n = 0; n < kTiles; ++n) {
        *reinterpret_cast<uint32_t*>(y + (first_head + head) * kHeadDim + 8 * (warp * kTiles + n) + 2 * quad) =
            pack2<T>(all[n][2 * i] * factor, all[n][2 * i + 1] * factor);
      }
    }
    return;
  }

  if (in_cluster) {
    cluster_arrive();
    cluster_wait();
    const int count = end_chunk - first_chunk;
    for (int e = split * kThreads + static_cast<int>(threadIdx.x); e < heads * (kHeadDim / 2);
         e += job.cluster * kThreads) {
      const int head = e / (kHeadDim / 2), dim = e % (kHeadDim / 2) * 2;
      float2 sum = make_float2(0, 0), states[kMaxCluster], parts[kMaxCluster];
#pragma unroll
      for (int c = 0; c < kMaxCluster; ++c) {
        if (c >= count) continue;
        states[c] = make_float2(load_peer(&chunk_max[head], c), load_peer(&chunk_sum[head], c));
        parts[c] = load_peer2(reinterpret_cast<const float2*>(sums + head * kHeadDim + dim), c);
      }
      Merged all_chunks;
#pragma unroll
      for (int c = 0; c < kMaxCluster; ++c) {
        if (c >= count) continue;
        const float2 factors = all_chunks.add(states[c].x, states[c].y);
        sum.x = Merged::weigh(factors, sum.x, parts[c].x), sum.y = Merged::weigh(factors, sum.y, parts[c].y);
      }
      const float factor = 1.0f / all_chunks.total;
      *reinterpret_cast<uint32_t*>(y + (first_head + head) * kHeadDim + dim) = pack2<T>(sum.x * factor, sum.y * factor);
    }
    cluster_arrive();
    cluster_wait();
    return;
  }

  // The last of the blocks of this (token, heads) adds up the chunks, in order.
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    int* counter = job.counters + static_cast<int64_t>(t) * gridDim.x + blockIdx.x;
    is_last = atomicAdd(counter, 1) == job.splits - 1;
    if (is_last) *counter = 0;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  const float* partials =
      job.partials + (static_cast<int64_t>(t) * p.heads + first_head) * job.chunks * kPartial<kHeadDim>;
  const int64_t head_stride = static_cast<int64_t>(job.chunks) * kPartial<kHeadDim>;
  for (int e = threadIdx.x; e < heads * (kHeadDim / 4); e += kThreads) {
    const int head = e / (kHeadDim / 4), dim = e % (kHeadDim / 4) * 4;
    const float* one = partials + head * head_stride;
    Merged all_chunks;
    float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 4
    for (int chunk = first_chunk; chunk < end_chunk; ++chunk) {
      const float2 state = __ldcg(reinterpret_cast<const float2*>(one + chunk * kPartial<kHeadDim>));
      const float4 v = __ldcg(reinterpret_cast<const float4*>(one + chunk * kPartial<kHeadDim> + 4 + dim));
      const float2 factors = all_chunks.add(state.x, state.y);
      sum.x = Merged::weigh(factors, sum.x, v.x), sum.y = Merged::weigh(factors, sum.y, v.y);
      sum.z = Merged::weigh(factors, sum.z, v.z), sum.w = Merged::weigh(factors, sum.w, v.w);
    }
    const float factor = 1.0f / all_chunks.total;
    *reinterpret_cast<uint2*>(y + (first_head + head) * kHeadDim + dim) =
        make_uint2(pack2<T>(sum.x * factor, sum.y * factor), pack2<T>(sum.z * factor, sum.w * factor));
  }
}

int chunks_of(int64_t max_positions) {
  return static_cast<int>((max_positions + kChunkPositions - 1) / kChunkPositions);
}

template <typename T, typename Cache, int kHeadDim, int kHeads>
void launch_decode(DecodeJob job, const Queue& queue) {
  const AttentionParams& p = job.p;
  job.head_groups = (p.heads / p.kv_heads + kHeads - 1) / kHeads;
  const int64_t rows = p.tokens * p.kv_heads * job.head_groups;
  if (job.splits == 0) {
    // As many blocks as there is room for, but none without a chunk: whoever has a row's chunks alone fetches the next
    // one while it works, and has nobody to wait for.
    const int64_t room = int64_t{kHeadDim <= 64 ? 3 : kHeadDim <= 128 ? 2 : 1} * device_traits().multiprocessors;
    const int64_t wanted = room < rows ? 1 : room / rows;
    job.splits = static_cast<int>(wanted < job.chunks ? wanted : job.chunks);
  }
  // Clusters hold their multiprocessors until the last of them is done: worth it while there are multiprocessors to
  // spare.
  if (device_traits().capability >= 90 && rows * job.chunks <= 2 * device_traits().multiprocessors) {
    while (job.cluster < kMaxCluster && job.cluster < job.chunks) job.cluster *= 2;
    job.splits = (job.splits + job.cluster - 1) / job.cluster * job.cluster;
  }
  launch(attention_decode_kernel<T, Cache, kHeadDim, kHeads>, job,
         {.grid = dim3(static_cast<unsigned>(p.kv_heads * job.head_groups), static_cast<unsigned>(p.tokens),
                       static_cast<unsigned>(job.splits)),
          .threads = kThreads,
          .shared_bytes = (sizeof(Cache) == 1 ? 1 : 2) * kChunkPositions * (2 * kHeadDim + 16),
          .cluster = job.cluster,
          .cluster_z = true},
         queue);
}

template <typename T, typename Cache, int kHeadDim>
void decode_heads(const DecodeJob& job, const Queue& queue) {
  if (job.p.heads / job.p.kv_heads > 8) return launch_decode<T, Cache, kHeadDim, 16>(job, queue);
  return launch_decode<T, Cache, kHeadDim, 8>(job, queue);
}

template <typename T, typename Cache>
void decode_dims(const DecodeJob& job, const Queue& queue) {
  switch (job.p.head_dim) {
    case 64:
      return decode_heads<T, Cache, 64>(job, queue);
    case 128:
      return decode_heads<T, Cache, 128>(job, queue);
    case 256:
      return decode_heads<T, Cache, 256>(job, queue);
    default:
      if constexpr (sizeof(Cache) == 2) decode_heads<T, Cache, 96>(job, queue);
      return;
  }
}

template <typename T>
void decode_of(const DecodeJob& job, const Queue& queue) {
  job.p.cache == Element::kF8E4M3 ? decode_dims<T, F8>(job, queue) : decode_dims<T, T>(job, queue);
}

int64_t counter_bytes(int64_t tokens, int heads) {
  return (tokens * heads * 4 + 255) / 256 * 256;
}

}  // namespace

int64_t attention_workspace_bytes(int64_t tokens, int heads, int head_dim, int64_t max_positions) {
  return counter_bytes(tokens, heads) + tokens * heads * chunks_of(max_positions) * (head_dim + 4) * 4;
}

void attention_decode(const AttentionParams& params, const Queue& queue) {
  if (params.tokens == 0) return;
  DecodeJob job = {.p = params, .splits = params.splits, .chunks = chunks_of(params.max_positions)};
  job.counters = static_cast<int*>(params.workspace);
  job.partials =
      reinterpret_cast<float*>(static_cast<char*>(params.workspace) + counter_bytes(params.tokens, params.heads));
  params.element == Element::kF16 ? decode_of<__half>(job, queue) : decode_of<__nv_bfloat16>(job, queue);
}

}  // namespace nereid::kernels::cuda
