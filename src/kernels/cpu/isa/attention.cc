// SPDX-License-Identifier: Apache-2.0
// attention: stores this step's keys and values, then attends in blocks: neighbouring tokens of one sequence under one
// head or, where a sequence has one token in the step, the heads that share its keys.
#include "kernels/cpu/isa/rope_row.h"
#include "kernels/cpu/isa/vector_math.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

using simd::F32;

// Positions whose scores are held at once; also the fixed unit in which partial results are merged.
constexpr int kSegment = 256;
constexpr int kMaxTokens = simd::kTileTokens;
constexpr float kMinusInfinity = -__builtin_huge_valf();

// Where position `pos` of a sequence lives.
struct Cache {
  const AttentionParams& p;
  const int32_t* pages;
  int kv_head;

  int64_t page(int64_t pos) const { return pages[pos / p.page_tokens]; }
  // The 16-lane block that holds pos (pos rounded down to a multiple of 16).
  uint16_t* k_block(int64_t pos) const {
    const int64_t in_page = pos % p.page_tokens / 16;
    return p.k_cache + ((page(pos) * p.kv_heads + kv_head) * p.page_tokens + in_page * 16) * p.head_dim;
  }
  uint16_t* v_row(int64_t pos) const {
    return p.v_cache + ((page(pos) * p.kv_heads + kv_head) * p.page_tokens + pos % p.page_tokens) * p.head_dim;
  }
};

// The first position that a token may see.
int64_t first_seen(const AttentionParams& p, int64_t token) {
  const int64_t lo = p.positions[token] - p.window + 1;
  return p.window > 0 && lo > 0 ? lo : 0;
}

// Keeps f16 finite: an infinity would turn the zero weights of masked neighbours into NaN.
F32 clamp_f16(F32 v) {
  return simd::min(simd::max(v, simd::set1(-65504.0f)), simd::set1(65504.0f));
}

// Rotates and stores one token's key and value of one head; rotates the queries that share it.
void store_token(const AttentionParams& p, int64_t t, int kv_head) {
  const Cache cache{p, p.page_table + p.sequence[t] * p.pages_per_sequence, kv_head};
  const int64_t pos = p.positions[t];
  const float* angles = p.cos_sin ? p.cos_sin + t * p.rotary_dim : nullptr;
  alignas(64) float key[kMaxHeadDim];
  const float* k = p.k + t * p.k_stride + kv_head * p.head_dim;
  if (angles) {
    rotate_row(k, angles, p.head_dim, p.rotary_dim, p.rope_interleaved, key);
    k = key;
    const int group = p.heads / p.kv_heads;
    for (int h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      float* q = p.q + t * p.q_stride + h * p.head_dim;
      rotate_row(q, angles, p.head_dim, p.rotary_dim, p.rope_interleaved, q);
    }
  }
  alignas(64) uint16_t half[16];
  uint16_t* k_lane = cache.k_block(pos) + pos % 16;
  const float* v = p.v + t * p.v_stride + kv_head * p.head_dim;
  uint16_t* v_row = cache.v_row(pos);
  for (int d = 0; d < p.head_dim; d += 16) {
    simd::store_f16(half, clamp_f16(simd::load(k + d)));
    for (int i = 0; i < 16; ++i) k_lane[(d + i) * 16] = half[i];
    simd::store_f16(v_row + d, clamp_f16(simd::load(v + d)));
  }
}

// The queries of a block: the first one's token and head, and how far the next one's are. All see the same keys.
struct Queries {
  int64_t token;
  int head;
  int next_token, next_head;  // 1 and 0, or 0 and 1
};

// M queries at once.
template <int M>
struct Block {
  static constexpr bool kFetches = M <= 4;  // few queries wait for memory, many for the multipliers

  const AttentionParams& p;
  Cache cache;
  Queries queries;
  alignas(64) float q[kMaxHeadDim][M];     // scaled queries: one dimension of all side by side
  alignas(64) float scores[M][kSegment];   // then probabilities
  alignas(64) float out[M * kMaxHeadDim];  // head_dim apart
  float max[M], sum[M];

  Block(const AttentionParams& params, const Queries& which)
      : p(params),
        cache{params, params.page_table + params.sequence[which.token] * params.pages_per_sequence,
              which.head / (params.heads / params.kv_heads)},
        queries(which) {}

  int64_t token(int m) const { return queries.token + m * queries.next_token; }
  int64_t column(int m) const { return (queries.head + m * queries.next_head) * p.head_dim; }
  // The first and last position that query m may see.
  int64_t lowest(int m) const { return first_seen(p, token(m)); }
  int64_t highest(int m) const { return p.positions[token(m)]; }

  void run() {
    int64_t begin = lowest(0);
    int64_t end = highest(0) + 1;
    for (int m = 0; m < M; ++m) {
      const float* src = p.q + token(m) * p.q_stride + column(m);
      for (int d = 0; d < p.head_dim; ++d) q[d][m] = src[d] * p.scale;
      for (int d = 0; d < p.head_dim; d += 16) simd::store(out + m * p.head_dim + d, simd::zero());
      max[m] = kMinusInfinity;
      sum[m] = 0;
      if (lowest(m) < begin) begin = lowest(m);
      if (highest(m) + 1 > end) end = highest(m) + 1;
    }
    for (int64_t s = begin / kSegment * kSegment; s < end; s += kSegment) {
      // Whole blocks of 16 inside the segment that some token sees.
      const int64_t from = s < begin ? begin / 16 * 16 : s;
      const int64_t to = end < s + kSegment ? end : s + kSegment;
      score(from, to);
      for (int m = 0; m < M; ++m) normalise(m, from, to);
      accumulate(from, to);
    }
    for (int m = 0; m < M; ++m) {
      float* y = p.y + token(m) * p.y_stride + column(m);
      const F32 inverse = simd::set1(1.0f / sum[m]);
      for (int d = 0; d < p.head_dim; d += 16)
        simd::store(y + d, simd::mul(simd::load(out + m * p.head_dim + d), inverse));
    }
  }

  // scores[m][pos - from] = q[m] . k[pos]. A sum is a chain of multiply-adds, so a few queries take several blocks of
  // 16 positions side by side to fill the pipes.
  void score(int64_t from, int64_t to) {
    constexpr int kSideBySide = simd::kTileTokens < 16 ? (M <= 2 ? 2 : 1) : M <= 4 ? 4 : M <= 8 ? 2 : 1;
    int64_t pos = from;
    for (; to - pos > 16 * (kSideBySide - 1); pos += 16 * kSideBySide) score_blocks<kSideBySide>(from, pos, to);
    for (; pos < to; pos += 16) score_blocks<1>(from, pos, to);
  }

  template <int B>
  [[gnu::flatten]] void score_blocks(int64_t from, int64_t pos, int64_t to) {
    const uint16_t* k[B];
    const uint16_t* next[B];  // what comes after, fetched meanwhile: pages end where the hardware stops looking ahead
    unrolled<B>([&]<int b>() {
      const int64_t at = pos + 16 * b;
      k[b] = cache.k_block(at);
      next[b] = at + 16 * B < to ? cache.k_block(at + 16 * B) : k[b];
    });
    F32 acc[B][M] = {};
    for (int d = 0; d < p.head_dim; ++d) {
      unrolled<B>([&]<int b>() {
        if constexpr (kFetches) simd::prefetch(next[b] + d * 16);
        const F32 key = simd::load_f16(k[b] + d * 16);
        unrolled<M>([&]<int m>() { acc[b][m] = simd::fma(key, simd::set1(q[d][m]), acc[b][m]); });
      });
    }
    unrolled<B>([&]<int b>() {
      unrolled<M>([&]<int m>() {
        if (p.softcap > 0) {
          const F32 cap = simd::set1(p.softcap);
          acc[b][m] = simd::mul(cap, tanh(simd::div(acc[b][m], cap)));
        }
        simd::store(scores[m] + (pos + 16 * b - from), acc[b][m]);
      });
    });
  }

  // Scores to exp(score - running maximum), zero outside the token's range; rescales what was summed before.
  void normalise(int m, int64_t from, int64_t to) {
    float* s = scores[m];
    const int64_t padded = (to - from + 15) / 16 * 16;
    const auto within = [&](int64_t pos) { return pos < 0 ? 0 : pos > padded ? padded : pos; };
    const int64_t lo = within(lowest(m) - from);
    const int64_t hi = within(highest(m) + 1 - from);
    for (int64_t i = 0; i < lo; ++i) s[i] = kMinusInfinity;
    for (int64_t i = hi; i < padded; ++i) s[i] = kMinusInfinity;
    F32 top = simd::set1(max[m]);
    for (int64_t i = 0; i < padded; i += 16) top = simd::max(top, simd::load(s + i));
    const float new_max = simd::reduce_max(top);
    if (lo >= hi) {  // nothing to see in this segment
      for (int64_t i = 0; i < padded; i += 16) simd::store(s + i, simd::zero());
      return;
    }
    F32 total = simd::zero();
    const F32 shift = simd::set1(new_max);
    for (int64_t i = 0; i < padded; i += 16) simd::store(s + i, exp(simd::sub(simd::load(s + i), shift)));
    for (int64_t i = 0; i < lo; ++i) s[i] = 0;
    for (int64_t i = hi; i < padded; ++i) s[i] = 0;
    for (int64_t i = 0; i < padded; i += 16) total = simd::add(total, simd::load(s + i));
    float lanes[16];
    simd::store(lanes, exp(simd::set1(max[m] - new_max)));
    const float keep = max[m] == kMinusInfinity ? 0.0f : lanes[0];
    if (max[m] != new_max) {
      const F32 factor = simd::set1(keep);
      for (int d = 0; d < p.head_dim; d += 16)
        simd::store(out + m * p.head_dim + d, simd::mul(simd::load(out + m * p.head_dim + d), factor));
      sum[m] *= keep;
      max[m] = new_max;
    }
    sum[m] += simd::reduce_add(total);
  }

  // out[m] += probabilities . values
  void accumulate(int64_t from, int64_t to) {
    constexpr int J = M >= 16 ? 1 : M >= 8 || simd::kTileTokens < 16 ? 2 : 4;
    int d = 0;
    for (; d + 16 * J <= p.head_dim; d += 16 * J) accumulate_columns<J>(d, from, to);
    for (; d < p.head_dim; d += 16) accumulate_columns<1>(d, from, to);
  }

  template <int J>
  [[gnu::flatten]] void accumulate_columns(int d, int64_t from, int64_t to) {
    F32 acc[M][J];
    unrolled<M>(
        [&]<int m>() { unrolled<J>([&]<int j>() { acc[m][j] = simd::load(out + m * p.head_dim + d + 16 * j); }); });
    for (int64_t pos = from; pos < to;) {
      const uint16_t* v = cache.v_row(pos) + d;
      const int64_t left_in_page = p.page_tokens - pos % p.page_tokens;
      const int64_t count = to - pos < left_in_page ? to - pos : left_in_page;
      const uint16_t* next = pos + count < to ? cache.v_row(pos + count) + d : v;
      for (int64_t i = 0; i < count; ++i, v += p.head_dim, next += p.head_dim) {
        if constexpr (kFetches) {
          simd::prefetch(next);
          if constexpr (J > 2) simd::prefetch(next + 32);
        }
        F32 value[J];
        unrolled<J>([&]<int j>() { value[j] = simd::load_f16(v + 16 * j); });
        unrolled<M>([&]<int m>() {
          const F32 weight = simd::set1(scores[m][pos - from + i]);
          unrolled<J>([&]<int j>() { acc[m][j] = simd::fma(value[j], weight, acc[m][j]); });
        });
      }
      pos += count;
    }
    unrolled<M>(
        [&]<int m>() { unrolled<J>([&]<int j>() { simd::store(out + m * p.head_dim + d + 16 * j, acc[m][j]); }); });
  }
};

template <int M>
void run_block(const AttentionParams& p, const Queries& queries) {
  Block<M>(p, queries).run();
}

// Neighbouring tokens of one sequence from `token` on: 16, 8, 4, 2 or 1, as the registers allow.
int tokens_together(const AttentionParams& p, int64_t token) {
  int n = 1;
  while (n < kMaxTokens && token + n < p.tokens && p.sequence[token + n] == p.sequence[token]) ++n;
  while (n & (n - 1)) n &= n - 1;
  return n;
}

// Runs `count` queries (a number that tokens_together gives, or any number of heads), as many at a time as there is
// code for.
void run_queries(const AttentionParams& p, Queries queries, int count) {
  while (count > 0) {
    int n = count >= kMaxTokens ? kMaxTokens : count >= 8 ? 8 : count >= 4 ? 4 : count;
    switch (n) {
      case 16:
        if constexpr (kMaxTokens >= 16) run_block<16>(p, queries);
        break;
      case 8:
        if constexpr (kMaxTokens >= 8) run_block<8>(p, queries);
        break;
      case 4:
        run_block<4>(p, queries);
        break;
      case 3:
        run_block<3>(p, queries);
        break;
      case 2:
        run_block<2>(p, queries);
        break;
      default:
        run_block<1>(p, queries);
    }
    queries.token += n * queries.next_token;
    queries.head += n * queries.next_head;
    count -= n;
  }
}

// What a head of n tokens costs, in positions; the constant stands for what does not grow with them.
int64_t cost_of(const AttentionParams& p, int64_t token, int n) {
  return n * (p.positions[token + n - 1] - first_seen(p, token) + 1 + 32);
}

}  // namespace

void attention(const AttentionParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.tokens * p.kv_heads);
  for (int64_t i = begin; i < end; ++i) store_token(p, i / p.kv_heads, static_cast<int>(i % p.kv_heads));
  worker.barrier();
  // All heads of all blocks in a row, cut into one piece a worker by what they cost.
  int64_t total = 0;
  for (int64_t t = 0; t < p.tokens;) {
    const int n = tokens_together(p, t);
    total += p.heads * cost_of(p, t, n);
    t += n;
  }
  const int64_t mine = total * worker.index() / worker.count(), others = total * (worker.index() + 1) / worker.count();
  const int group = p.heads / p.kv_heads;
  int64_t at = 0;
  for (int64_t t = 0; t < p.tokens;) {
    const int n = tokens_together(p, t);
    const int64_t cost = cost_of(p, t, n);
    const auto heads_before = [&](int64_t where) {
      const int64_t h = where <= at ? 0 : (where - at + cost - 1) / cost;
      return static_cast<int>(h < p.heads ? h : p.heads);
    };
    const int last = heads_before(others);
    for (int h = heads_before(mine); h < last;) {
      const int left = last - h, of_group = group - h % group;
      const int heads = n > 1 ? 1 : left < of_group ? left : of_group;
      run_queries(p, {.token = t, .head = h, .next_token = n > 1, .next_head = n == 1}, n > 1 ? n : heads);
      h += heads;
    }
    at += p.heads * cost;
    t += n;
  }
}

void rope(const RopeParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.tokens * p.heads);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t t = i / p.heads;
    const int64_t h = i % p.heads;
    rotate_row(p.x + t * p.x_stride + h * p.head_dim, p.cos_sin + t * p.rotary_dim, p.head_dim, p.rotary_dim,
               p.interleaved, p.y + t * p.y_stride + h * p.head_dim);
  }
}

void rope_table(const RopeTableParams& p, Worker& worker) {
  const int half = p.rotary_dim / 2;
  const auto [begin, end] = worker.slice(p.tokens * half);
  for (int64_t i = begin; i < end; ++i) {
    const int64_t t = i / half;
    const int64_t j = i % half;
    // f64: at position 100,000 an f32 angle is off by 0.004.
    const double angle = static_cast<double>(p.positions[t]) * static_cast<double>(p.inv_freq[j]);
    p.cos_sin[t * p.rotary_dim + j] = static_cast<float>(__builtin_cos(angle)) * p.scale;
    p.cos_sin[t * p.rotary_dim + half + j] = static_cast<float>(__builtin_sin(angle)) * p.scale;
  }
}

}  // namespace nereid::kernels::NEREID_ISA
