// SPDX-License-Identifier: Apache-2.0
// attention: stores this step's keys and values, then attends in blocks of neighbouring tokens of one sequence.
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

// M neighbouring tokens of one sequence and one head.
template <int M>
struct Block {
  const AttentionParams& p;
  Cache cache;
  int64_t token;
  int head;
  alignas(64) float q[kMaxHeadDim][M];     // scaled queries: one dimension of all tokens side by side
  alignas(64) float scores[M][kSegment];   // then probabilities
  alignas(64) float out[M * kMaxHeadDim];  // head_dim apart
  float max[M], sum[M];

  Block(const AttentionParams& params, int64_t t, int h)
      : p(params),
        cache{params, params.page_table + params.sequence[t] * params.pages_per_sequence,
              h / (params.heads / params.kv_heads)},
        token(t),
        head(h) {}

  // The first and last position that token m may see.
  int64_t lowest(int m) const {
    const int64_t lo = p.positions[token + m] - p.window + 1;
    return p.window > 0 && lo > 0 ? lo : 0;
  }
  int64_t highest(int m) const { return p.positions[token + m]; }

  void run() {
    int64_t begin = lowest(0);
    int64_t end = highest(0) + 1;
    for (int m = 0; m < M; ++m) {
      const float* src = p.q + (token + m) * p.q_stride + head * p.head_dim;
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
      float* y = p.y + (token + m) * p.y_stride + head * p.head_dim;
      const F32 inverse = simd::set1(1.0f / sum[m]);
      for (int d = 0; d < p.head_dim; d += 16)
        simd::store(y + d, simd::mul(simd::load(out + m * p.head_dim + d), inverse));
    }
  }

  // scores[m][pos - from] = q[m] . k[pos], for 16 positions at a time.
  [[gnu::flatten]] void score(int64_t from, int64_t to) {
    for (int64_t pos = from; pos < to; pos += 16) {
      const uint16_t* k = cache.k_block(pos);
      F32 acc[M] = {};
      for (int d = 0; d < p.head_dim; ++d) {
        const F32 key = simd::load_f16(k + d * 16);
        unrolled<M>([&]<int m>() { acc[m] = simd::fma(key, simd::set1(q[d][m]), acc[m]); });
      }
      unrolled<M>([&]<int m>() {
        if (p.softcap > 0) {
          const F32 cap = simd::set1(p.softcap);
          acc[m] = simd::mul(cap, tanh(simd::div(acc[m], cap)));
        }
        simd::store(scores[m] + (pos - from), acc[m]);
      });
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
      const uint16_t* v = cache.v_row(pos) + d;
      const int64_t left_in_page = p.page_tokens - pos % p.page_tokens;
      const int64_t count = to - pos < left_in_page ? to - pos : left_in_page;
      for (int64_t i = 0; i < count; ++i, v += p.head_dim) {
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
void run_block(const AttentionParams& p, int64_t token, int head) {
  Block<M>(p, token, head).run();
}

// The largest block that starts at `token`: neighbours of one sequence, M in {16, 8, 4, 2, 1} as the registers allow.
int block_size(const AttentionParams& p, int64_t token) {
  int n = 1;
  while (n < kMaxTokens && token + n < p.tokens && p.sequence[token + n] == p.sequence[token]) ++n;
  while (n & (n - 1)) n &= n - 1;
  return n;
}

}  // namespace

void attention(const AttentionParams& p, Worker& worker) {
  const auto [begin, end] = worker.slice(p.tokens * p.kv_heads);
  for (int64_t i = begin; i < end; ++i) store_token(p, i / p.kv_heads, static_cast<int>(i % p.kv_heads));
  worker.barrier();
  // Later blocks see more positions, so items go round the workers in turn.
  int64_t item = 0;
  for (int64_t t = 0; t < p.tokens;) {
    const int n = block_size(p, t);
    for (int h = 0; h < p.heads; ++h, ++item) {
      if (item % worker.count() != worker.index()) continue;
      switch (n) {
        case 16:
          if constexpr (kMaxTokens >= 16) run_block<16>(p, t, h);
          break;
        case 8:
          if constexpr (kMaxTokens >= 8) run_block<8>(p, t, h);
          break;
        case 4:
          run_block<4>(p, t, h);
          break;
        case 2:
          run_block<2>(p, t, h);
          break;
        default:
          run_block<1>(p, t, h);
      }
    }
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
