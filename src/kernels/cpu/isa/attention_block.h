// SPDX-License-Identifier: Apache-2.0
// attention for one kind of cache: stores this step's keys and values, then attends in blocks: neighbouring tokens of
// one sequence under one head or, where a sequence has one token in the step, the heads that share its keys.
#pragma once

#include "kernels/cpu/isa/attention_cache.h"
#include "kernels/cpu/isa_kernels.h"

namespace nereid::kernels::NEREID_ISA {

// In files of their own, because each takes long to compile.
void attention_f16(const AttentionParams&, Worker&);
void attention_i8(const AttentionParams&, Worker&);
void attention_f32(const AttentionParams&, Worker&);
void attention_bf16(const AttentionParams&, Worker&);
void attention_f8(const AttentionParams&, Worker&);

namespace {

using simd::F32;

// Positions whose scores are held at once; also the fixed unit in which partial results are merged.
constexpr int kSegment = 256;
constexpr int kMaxTokens = simd::kTileTokens;
constexpr float kMinusInfinity = -__builtin_huge_valf();

// The queries of a block: the first one's token and head, and how far the next one's are. All see the same keys.
struct Queries {
  int64_t token;
  int head;
  int next_token, next_head;  // 1 and 0, or 0 and 1
};

// Queries as scores multiply them. Floats: one dimension of all side by side, scaled.
template <class Format, int M>
struct QueryRows {
  alignas(64) float q[kMaxHeadDim][M];
  void set(const AttentionParams& p, int m, const float* src) {
    for (int d = 0; d < p.head_dim; ++d) q[d][m] = src[d] * p.scale;
  }
};
// Codes: 32 dimensions of each side by side, and what their products have to be multiplied by.
template <int M>
struct QueryRows<CacheI8, M> {
  alignas(64) int8_t codes[kMaxHeadDim / 32][M][32];
  float factor[M];
  int32_t excess[M];  // what the 128 that keys are stored with add to a product
  void set(const AttentionParams& p, int m, const float* src) {
    alignas(64) int8_t row[kMaxHeadDim];
    factor[m] = store_codes(src, p.head_dim, 1e30f, row) * p.scale;
    int32_t sum = 0;
    for (int d = 0; d < p.head_dim; ++d) {
      codes[d / 32][m][d % 32] = row[d];
      sum += row[d];
    }
    excess[m] = simd::kCode8Zero * sum;
  }
};

// M queries at once.
template <class Format, int M>
struct Block {
  using Element = typename Format::Element;
  static constexpr bool kFetches = M <= 4;  // few queries wait for memory, many for the multipliers

  const AttentionParams& p;
  Cache<Format> cache;
  Queries queries;
  QueryRows<Format, M> rows;
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
      rows.set(p, m, src);
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
      if constexpr (Format::kIsCodes) weigh(from, to);
      accumulate(from, to);
    }
    for (int m = 0; m < M; ++m) {
      float* y = p.y + token(m) * p.y_stride + column(m);
      const F32 inverse = simd::set1(Format::kFactor / sum[m]);
      for (int d = 0; d < p.head_dim; d += 16)
        simd::store(y + d, simd::mul(simd::load(out + m * p.head_dim + d), inverse));
    }
  }

  // scores[m][pos - from] = q[m] . k[pos]. A sum is a chain of multiply-adds, so a few queries take several blocks of
  // 16 positions side by side to fill the pipes.
  void score(int64_t from, int64_t to) {
    constexpr int kSideBySide = Format::kIsCodes         ? 1
                                : simd::kTileTokens < 16 ? (M <= 2 ? 2 : 1)
                                : M <= 4                 ? 4
                                : M <= 8                 ? 2
                                                         : 1;
    int64_t pos = from;
    for (; to - pos > 16 * (kSideBySide - 1); pos += 16 * kSideBySide) score_blocks<kSideBySide>(from, pos, to);
    for (; pos < to; pos += 16) score_blocks<1>(from, pos, to);
  }

  template <int B>
  [[gnu::flatten]] void score_blocks(int64_t from, int64_t pos, int64_t to) {
    if constexpr (Format::kIsCodes)
      return score_codes(from, pos, to);
    else
      score_floats<B>(from, pos, to);
  }

  template <int B>
  [[gnu::always_inline]] void score_floats(int64_t from, int64_t pos, int64_t to) {
    const Element* k[B];
    const Element* next[B];  // what comes after, fetched meanwhile: pages end where the hardware stops looking ahead
    unrolled<B>([&]<int b>() {
      const int64_t at = pos + 16 * b;
      k[b] = cache.k_block(at);
      next[b] = at + 16 * B < to ? cache.k_block(at + 16 * B) : k[b];
    });
    F32 acc[B][M] = {};
    for (int d = 0; d < p.head_dim; ++d) {
      unrolled<B>([&]<int b>() {
        if constexpr (kFetches) simd::prefetch(next[b] + d * 16);
        const F32 key = Format::load(k[b] + d * 16);
        unrolled<M>([&]<int m>() { acc[b][m] = simd::fma(key, simd::set1(rows.q[d][m]), acc[b][m]); });
      });
    }
    unrolled<B>([&]<int b>() {
      unrolled<M>([&]<int m>() {
        if constexpr (Format::kFactor != 1) acc[b][m] = simd::mul(acc[b][m], simd::set1(Format::kFactor));
        simd::store(scores[m] + (pos + 16 * b - from), capped(acc[b][m]));
      });
    });
  }

  [[gnu::always_inline]] void score_codes(int64_t from, int64_t pos, int64_t to) {
    constexpr int T = M < simd::kDotTokens ? M : simd::kDotTokens;
    const Element* k = cache.k_block(pos);
    const Element* next = pos + 16 < to ? cache.k_block(pos + 16) : k;
    simd::I32 products[M];
    unrolled<M>([&]<int m>() { products[m] = simd::iset1(-rows.excess[m]); });
    simd::Bytes w[8];
    int d = 0;
    for (; d + 32 <= p.head_dim; d += 32) {
      unrolled<8>([&]<int i>() {
        if constexpr (kFetches) simd::prefetch(next + d * 16 + 64 * i);
        w[i] = simd::load_bytes(k + d * 16 + 64 * i);
      });
      add_products<T, 8>(w, d / 32, products);
    }
    if (d < p.head_dim) {
      unrolled<4>([&]<int i>() { w[i] = simd::load_bytes(k + d * 16 + 64 * i); });
      add_products<T, 4>(w, d / 32, products);
    }
    const F32 scale = simd::load(cache.scale(p.k_cache, pos));
    unrolled<M>([&]<int m>() {
      const F32 score = simd::mul(simd::to_f32(products[m]), simd::mul(scale, simd::set1(rows.factor[m])));
      simd::store(scores[m] + (pos - from), capped(score));
    });
  }

  // 4 * kCount dimensions of 16 positions, T queries at a time.
  template <int T, int kCount>
  [[gnu::always_inline]] void add_products(const simd::Bytes (&w)[8], int group, simd::I32 (&products)[M]) {
    unrolled<M / T>([&]<int i>() {
      simd::I32 dot[T];
      simd::dot_columns<8, 0, kCount, T>(w, rows.codes[group][i * T], dot);
      unrolled<T>([&]<int t>() { products[i * T + t] = simd::iadd(products[i * T + t], dot[t]); });
    });
  }

  F32 capped(F32 score) const {
    if (p.softcap <= 0) return score;
    const F32 cap = simd::set1(p.softcap);
    return simd::mul(cap, tanh(simd::div(score, cap)));
  }

  // Probabilities times the scales of the values that they weigh.
  void weigh(int64_t from, int64_t to) {
    for (int64_t pos = from; pos < to; pos += 16) {
      const F32 scale = simd::load(cache.scale(p.v_cache, pos));
      for (int m = 0; m < M; ++m) {
        float* s = scores[m] + (pos - from);
        simd::store(s, simd::mul(simd::load(s), scale));
      }
    }
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
      const Element* v = cache.v_row(pos) + d;
      const int64_t left_in_page = p.page_tokens - pos % p.page_tokens;
      const int64_t count = to - pos < left_in_page ? to - pos : left_in_page;
      const Element* next = pos + count < to ? cache.v_row(pos + count) + d : v;
      for (int64_t i = 0; i < count; ++i, v += p.head_dim, next += p.head_dim) {
        if constexpr (kFetches) {
          simd::prefetch(next);
          if constexpr (J * sizeof(Element) > 4) simd::prefetch(next + 64 / sizeof(Element));
        }
        F32 value[J];
        unrolled<J>([&]<int j>() { value[j] = Format::load(v + 16 * j); });
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

template <class Format, int M>
void run_block(const AttentionParams& p, const Queries& queries) {
  Block<Format, M>(p, queries).run();
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
template <class Format>
void run_queries(const AttentionParams& p, Queries queries, int count) {
  while (count > 0) {
    int n = count >= kMaxTokens ? kMaxTokens : count >= 8 ? 8 : count >= 4 ? 4 : count;
    switch (n) {
      case 16:
        if constexpr (kMaxTokens >= 16) run_block<Format, 16>(p, queries);
        break;
      case 8:
        if constexpr (kMaxTokens >= 8) run_block<Format, 8>(p, queries);
        break;
      case 4:
        run_block<Format, 4>(p, queries);
        break;
      case 3:
        run_block<Format, 3>(p, queries);
        break;
      case 2:
        run_block<Format, 2>(p, queries);
        break;
      default:
        run_block<Format, 1>(p, queries);
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

template <class Format>
void attend(const AttentionParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.tokens * p.kv_heads);
  for (int64_t i = begin; i < end; ++i) store_token<Format>(p, i / p.kv_heads, static_cast<int>(i % p.kv_heads));
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
      run_queries<Format>(p, {.token = t, .head = h, .next_token = n > 1, .next_head = n == 1}, n > 1 ? n : heads);
      h += heads;
    }
    at += p.heads * cost;
    t += n;
  }
}

}  // namespace
}  // namespace nereid::kernels::NEREID_ISA
