// SPDX-License-Identifier: Apache-2.0
// attention and rope against the ops' evaluators, on every instruction set of this machine.
//
// Both round what they keep alike, so without rotation they differ by f32 rounding alone. A rotated key may round to
// the neighbouring number, since the evaluator takes its angles in f32: that is the tolerance with rotation. Over codes
// of 8 bits the kernel rounds its queries, too; the evaluator is then given rounded ones. Unused cache slots hold NaN
// and infinities throughout.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "base/float_convert.h"
#include "kernels/cpu/test_kernels.h"
#include "ops/kv_row.h"
#include "ops/op_fixture.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

struct Heads {
  int heads = 2, kv_heads = 1, head_dim = 64;
  int page_tokens = 32;
  int64_t window = 0;
  float softcap = 0;
  int rotary_dim = 0;
  bool interleaved = false;
  float rope_scale = 1;
  DType cache = DType::f16;

  std::string text() const {
    return fmt::format("{} heads {}/{} head_dim {} page {} window {} softcap {} rotary {}{}", dtype_name(cache), heads,
                       kv_heads, head_dim, page_tokens, window, softcap, rotary_dim, interleaved ? " interleaved" : "");
  }
  int64_t row_elements() const { return ops::kv_row_elements(cache, head_dim); }
  // Of the caches of so many pages.
  size_t cache_bytes(size_t pages) const {
    return static_cast<size_t>(
        *dtype_bytes(cache, static_cast<int64_t>(pages) * kv_heads * page_tokens * row_elements()));
  }
};

struct Token {
  int32_t sequence, position;
};

std::vector<Token> run_of(int32_t sequence, int32_t first, int32_t count) {
  std::vector<Token> tokens;
  for (int32_t i = 0; i < count; ++i) tokens.push_back({sequence, first + i});
  return tokens;
}

std::vector<float> frequencies(const Heads& h) {
  std::vector<float> f(static_cast<size_t>(h.rotary_dim / 2));
  for (size_t i = 0; i < f.size(); ++i)
    f[i] = static_cast<float>(std::pow(10000.0, -2.0 * static_cast<double>(i) / h.rotary_dim));
  return f;
}

// The rows of some tokens: a token has the same ones in whatever step it comes.
std::vector<float> rows_of(const std::vector<Token>& tokens, int width, uint32_t what) {
  std::vector<float> rows;
  for (const Token& t : tokens) {
    const auto seed = static_cast<uint32_t>(t.sequence * 100003 + t.position * 7 + 1) * 3 + what;
    const std::vector<float> row = random_floats(static_cast<size_t>(width), seed);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

// A paged cache of two sequences whose pages lie in no particular order; garbage where nothing was stored.
struct Cache {
  static constexpr int kSequences = 2;
  int pages_per_sequence;
  std::vector<int32_t> table;  // [kSequences, pages_per_sequence]
  std::vector<uint16_t> k, v;

  Cache(const Heads& h, int positions) : pages_per_sequence((positions + h.page_tokens - 1) / h.page_tokens) {
    table.resize(static_cast<size_t>(kSequences * pages_per_sequence));
    std::iota(table.begin(), table.end(), 0);
    std::mt19937 rng(17);
    std::shuffle(table.begin(), table.end(), rng);
    k.resize(h.cache_bytes(table.size()) / 2);
    constexpr std::array<uint16_t, 4> kGarbage = {0x7e00, 0x7c00, 0xfc00, 0xffff};  // NaN, inf, -inf, NaN
    for (size_t i = 0; i < k.size(); ++i) k[i] = kGarbage[i % 4];
    v = k;
  }
};

std::vector<float> run_attention(Isa isa, const Heads& h, Cache& cache, const std::vector<Token>& tokens, int threads) {
  const auto n = static_cast<int64_t>(tokens.size());
  std::vector<float> q = rows_of(tokens, h.heads * h.head_dim, 0);
  const std::vector<float> k = rows_of(tokens, h.kv_heads * h.head_dim, 1);
  const std::vector<float> v = rows_of(tokens, h.kv_heads * h.head_dim, 2);
  std::vector<int32_t> positions, sequences;
  for (const Token& t : tokens) {
    positions.push_back(t.position);
    sequences.push_back(t.sequence);
  }
  const std::vector<float> inv_freq = frequencies(h);
  std::vector<float> angles(tokens.size() * static_cast<size_t>(h.rotary_dim));
  std::vector<float> y(q.size(), -1.0f);
  const IsaKernels& kernels = isa_kernels(isa);
  if (h.rotary_dim)
    testing::run_kernel(kernels.rope_table,
                        {.positions = positions.data(),
                         .tokens = n,
                         .inv_freq = inv_freq.data(),
                         .rotary_dim = h.rotary_dim,
                         .scale = h.rope_scale,
                         .cos_sin = angles.data()},
                        threads);
  AttentionParams p;
  p.q = q.data();
  p.q_stride = h.heads * h.head_dim;
  p.k = k.data();
  p.v = v.data();
  p.k_stride = p.v_stride = h.kv_heads * h.head_dim;
  p.tokens = n;
  p.heads = h.heads;
  p.kv_heads = h.kv_heads;
  p.head_dim = h.head_dim;
  p.scale = 1 / std::sqrt(static_cast<float>(h.head_dim));
  p.softcap = h.softcap;
  p.window = h.window;
  p.positions = positions.data();
  p.sequence = sequences.data();
  p.page_table = cache.table.data();
  p.pages_per_sequence = cache.pages_per_sequence;
  p.page_tokens = h.page_tokens;
  p.cache = h.cache;
  p.k_cache = cache.k.data();
  p.v_cache = cache.v.data();
  p.cos_sin = h.rotary_dim ? angles.data() : nullptr;
  p.rotary_dim = h.rotary_dim;
  p.rope_interleaved = h.interleaved;
  p.y = y.data();
  p.y_stride = p.q_stride;
  testing::run_kernel(kernels.attention, p, threads);
  return y;
}

// As the kernel takes queries over codes: each head in 8 bits with one scale.
std::vector<float> rounded_heads(std::vector<float> q, int head_dim) {
  for (size_t at = 0; at < q.size(); at += static_cast<size_t>(head_dim)) {
    const auto head = std::span(q).subspan(at, static_cast<size_t>(head_dim));
    float largest = 0;
    for (float x : head) largest = std::max(largest, std::fabs(x));
    for (float& x : head) x = std::nearbyint(x * (127.0f / largest)) * (largest / 127.0f);
  }
  return q;
}

// The evaluator with caches of its own.
class Reference {
 public:
  Reference(const Heads& h, const Cache& cache) : h_(h), cache_(cache) {
    const int64_t pages = static_cast<int64_t>(cache.table.size());
    k_ = ops::Tensor::zeros(h.cache, {pages, h.kv_heads, h.page_tokens, h.row_elements()}).value();
    v_ = k_;
  }

  // Stores an unrotated context without attending, which is what takes the evaluator long.
  void fill(const std::vector<Token>& tokens) {
    if (tokens.empty()) return;
    if (h_.cache != DType::f16) return static_cast<void>(step(tokens));
    const std::vector<float> k = rows_of(tokens, h_.kv_heads * h_.head_dim, 1);
    const std::vector<float> v = rows_of(tokens, h_.kv_heads * h_.head_dim, 2);
    for (size_t t = 0; t < tokens.size(); ++t)
      for (int head = 0; head < h_.kv_heads; ++head)
        for (int d = 0; d < h_.head_dim; ++d) {
          const size_t from =
              (t * static_cast<size_t>(h_.kv_heads) + static_cast<size_t>(head)) * static_cast<size_t>(h_.head_dim) +
              static_cast<size_t>(d);
          const int page = cache_.table[static_cast<size_t>(tokens[t].sequence * cache_.pages_per_sequence +
                                                            tokens[t].position / h_.page_tokens)];
          const int to =
              ((page * h_.kv_heads + head) * h_.page_tokens + tokens[t].position % h_.page_tokens) * h_.head_dim + d;
          k_.view().as<uint16_t>()[to] = f32_to_f16(k[from]);
          v_.view().as<uint16_t>()[to] = f32_to_f16(v[from]);
        }
  }

  std::vector<double> step(const std::vector<Token>& tokens) {
    const auto n = static_cast<int64_t>(tokens.size());
    const auto floats = [&](int heads, uint32_t what) {
      std::vector<float> rows = rows_of(tokens, heads * h_.head_dim, what);
      if (what == 0 && h_.cache == DType::i8 && h_.rotary_dim == 0) rows = rounded_heads(std::move(rows), h_.head_dim);
      return ops::f32({n, heads * h_.head_dim}, {rows.begin(), rows.end()});
    };
    std::vector<double> positions, sequences;
    for (const Token& t : tokens) {
      positions.push_back(t.position);
      sequences.push_back(t.sequence);
    }
    const std::vector<float> f = frequencies(h_);
    std::vector<ops::Tensor> inputs = {
        floats(h_.heads, 0),
        floats(h_.kv_heads, 1),
        floats(h_.kv_heads, 2),
        std::move(k_),
        std::move(v_),
        ops::i32({n}, positions),
        ops::i32({n}, sequences),
        ops::i32({Cache::kSequences, cache_.pages_per_sequence}, {cache_.table.begin(), cache_.table.end()}),
        f.empty() ? ops::absent() : ops::f32({static_cast<int64_t>(f.size())}, {f.begin(), f.end()})};
    auto results = ops::try_op("attention", inputs,
                               {{"heads", int64_t{h_.heads}},
                                {"kv_heads", int64_t{h_.kv_heads}},
                                {"head_dim", int64_t{h_.head_dim}},
                                {"scale", 1 / std::sqrt(static_cast<double>(h_.head_dim))},
                                {"window", h_.window},
                                {"softcap", static_cast<double>(h_.softcap)},
                                {"rope_interleaved", h_.interleaved},
                                {"rope_scale", static_cast<double>(h_.rope_scale)}});
    k_ = std::move(inputs[3]);
    v_ = std::move(inputs[4]);
    EXPECT_TRUE(results.is_ok()) << results.status().message();
    return results.is_ok() ? results.value()[0].numbers() : std::vector<double>();
  }

 private:
  Heads h_;
  const Cache& cache_;
  ops::Tensor k_, v_;
};

// `steps` one after the other on every instruction set, each against the evaluator.
void expect_agreement(const Heads& h, int positions, const std::vector<std::vector<Token>>& steps,
                      const std::vector<Token>& context = {}) {
  const double rotated = h.cache == DType::i8                                 ? 2e-2
                         : h.cache == DType::f8e4m3 || h.cache == DType::bf16 ? 1e-2
                                                                              : 1.5e-3;
  const double tolerance = h.rotary_dim ? rotated : ops::find_op("attention")->tolerance_f32;
  Cache layout(h, positions);
  Reference reference(h, layout);
  reference.fill(context);
  std::vector<std::vector<double>> want;
  for (const auto& step : steps) want.push_back(reference.step(step));
  for (Isa isa : isas_here()) {
    Cache cache(h, positions);
    if (!context.empty()) run_attention(isa, h, cache, context, 2);
    for (size_t s = 0; s < steps.size(); ++s) {
      const std::vector<float> got = run_attention(isa, h, cache, steps[s], 2);
      ASSERT_EQ(got.size(), want[s].size());
      double largest = 0;
      for (double w : want[s]) largest = std::max(largest, std::fabs(w));
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[s][i], tolerance * largest)
            << h.text() << " isa " << isa_name(isa) << " step " << s << " token "
            << i / static_cast<size_t>(h.heads * h.head_dim);
    }
  }
}

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Attention, agrees_with_the_evaluator_for_every_head_size_and_group) {
  for (int head_dim : {16, 64, 80, 96, 128, 256})
    for (auto [heads, kv_heads] : {std::pair{1, 1}, {9, 3}, {8, 1}, {15, 5}})
      expect_agreement({.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim}, 40,
                       {run_of(0, 0, 19), run_of(0, 19, 1), run_of(0, 20, 2)});
}

TEST(Attention, agrees_with_the_evaluator_for_prompts_of_1_to_70_tokens_across_pages) {
  for (int page_tokens : {16, 32, 64})
    for (int32_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 48, 63, 64, 65, 70})
      expect_agreement({.heads = 3, .kv_heads = 1, .head_dim = 32, .page_tokens = page_tokens}, 80,
                       {run_of(1, 0, n), run_of(1, n, 1)});
}

TEST(Attention, agrees_with_the_evaluator_when_sequences_share_a_step) {
  const Heads h{.heads = 6, .kv_heads = 2, .head_dim = 48, .page_tokens = 16};
  expect_agreement(h, 80,
                   {joined(run_of(0, 0, 21), run_of(1, 0, 37)),
                    joined(run_of(0, 21, 1), run_of(1, 37, 1)),
                    joined(run_of(1, 38, 30), run_of(0, 22, 1)),
                    {{0, 23}, {1, 68}, {0, 24}, {1, 69}}});
}

TEST(Attention, agrees_with_the_evaluator_with_a_window_and_a_soft_cap) {
  for (int64_t window : {1, 2, 15, 16, 17, 40})
    expect_agreement({.heads = 4, .kv_heads = 2, .head_dim = 32, .window = window}, 100,
                     {run_of(0, 0, 60), run_of(0, 60, 1), run_of(0, 61, 9)});
  for (float softcap : {0.5f, 30.0f})
    expect_agreement({.heads = 4, .kv_heads = 2, .head_dim = 64, .softcap = softcap}, 64,
                     {run_of(0, 0, 40), run_of(0, 40, 1)});
  expect_agreement({.heads = 4, .kv_heads = 1, .head_dim = 64, .window = 24, .softcap = 50}, 64,
                   {run_of(0, 0, 40), run_of(0, 40, 1)});
}

TEST(Attention, rotates_whole_or_part_of_a_head_in_both_pairings) {
  for (bool interleaved : {false, true})
    for (auto [head_dim, rotary] : {std::pair{64, 64}, {64, 32}, {80, 20}, {96, 96}, {128, 64}})
      expect_agreement({.heads = 6,
                        .kv_heads = 2,
                        .head_dim = head_dim,
                        .rotary_dim = rotary,
                        .interleaved = interleaved,
                        .rope_scale = 1.25f},
                       64, {run_of(0, 0, 33), run_of(0, 33, 1), joined(run_of(0, 34, 2), run_of(1, 0, 3))});
}

constexpr DType kOtherCaches[] = {DType::i8, DType::f32, DType::bf16, DType::f8e4m3};

TEST(Attention, agrees_with_the_evaluator_for_every_type_of_cache) {
  for (DType cache : kOtherCaches) {
    for (int head_dim : {16, 48, 64, 80, 128})
      for (auto [heads, kv_heads] : {std::pair{1, 1}, {9, 3}, {8, 1}, {10, 2}})
        expect_agreement(
            {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .page_tokens = 16, .cache = cache}, 60,
            {run_of(0, 0, 37), run_of(0, 37, 1), joined(run_of(0, 38, 2), run_of(1, 0, 9))});
    expect_agreement({.heads = 4, .kv_heads = 2, .head_dim = 32, .window = 17, .softcap = 5, .cache = cache}, 100,
                     {run_of(0, 0, 60), run_of(0, 60, 1), run_of(0, 61, 9)});
    expect_agreement({.heads = 6, .kv_heads = 2, .head_dim = 64, .rotary_dim = 64, .cache = cache}, 64,
                     {run_of(0, 0, 33), run_of(0, 33, 1), joined(run_of(0, 34, 2), run_of(1, 0, 3))});
    expect_agreement({.heads = 3, .kv_heads = 1, .head_dim = 32, .cache = cache}, 600,
                     {run_of(0, 520, 1), run_of(0, 521, 5)}, run_of(0, 0, 520));
  }
}

// The kernel works in segments of 512 positions.
TEST(Attention, agrees_with_the_evaluator_past_its_segments) {
  for (int32_t length : {511, 512, 513, 700, 1023, 1024, 1025, 1300})
    for (int64_t window : {0, 600}) {
      const Heads h{.heads = 3, .kv_heads = 1, .head_dim = 32, .window = window};
      expect_agreement(h, 1400, {run_of(0, length, 1), run_of(0, length + 1, 5)}, run_of(0, 0, length));
    }
}

TEST(Attention, a_tokens_bits_do_not_depend_on_chunks_company_or_threads) {
  const int32_t n = 70;
  for (const Heads& h : {Heads{.heads = 9, .kv_heads = 3, .head_dim = 64, .rotary_dim = 64},
                         Heads{.heads = 8, .kv_heads = 1, .head_dim = 80, .page_tokens = 16, .window = 20},
                         Heads{.heads = 2, .kv_heads = 2, .head_dim = 128, .softcap = 20, .rotary_dim = 32},
                         Heads{.heads = 9, .kv_heads = 3, .head_dim = 64, .rotary_dim = 64, .cache = DType::i8},
                         Heads{.heads = 8, .kv_heads = 1, .head_dim = 80, .window = 20, .cache = DType::i8},
                         Heads{.heads = 4, .kv_heads = 2, .head_dim = 32, .cache = DType::f32},
                         Heads{.heads = 4, .kv_heads = 2, .head_dim = 32, .cache = DType::f8e4m3}})
    for (Isa isa : isas_here()) {
      const auto width = static_cast<size_t>(h.heads * h.head_dim);
      Cache whole_cache(h, 80);
      const std::vector<float> whole = run_attention(isa, h, whole_cache, run_of(0, 0, n), 1);
      for (int threads : {2, 3}) {
        Cache cache(h, 80);
        EXPECT_EQ(run_attention(isa, h, cache, run_of(0, 0, n), threads), whole) << h.text() << " threads " << threads;
      }
      for (int32_t chunk : {1, 2, 3, 5, 8, 16, 17, 33}) {
        Cache cache(h, 80);
        std::vector<float> pieces;
        for (int32_t at = 0; at < n; at += chunk) {
          // Another sequence comes along, before or behind.
          const int32_t count = std::min(chunk, n - at);
          const bool before = at % 2;
          std::vector<Token> step = run_of(0, at, count);
          step = before ? joined(run_of(1, at, 1), step) : joined(step, run_of(1, at, 1));
          const std::vector<float> y = run_attention(isa, h, cache, step, 2);
          const auto first = y.begin() + (before ? static_cast<std::ptrdiff_t>(width) : 0);
          pieces.insert(pieces.end(), first, first + static_cast<std::ptrdiff_t>(width) * count);
          // Sequence 1 is filled in order too.
          if (count > 1) run_attention(isa, h, cache, run_of(1, at + 1, count - 1), 1);
        }
        ASSERT_EQ(pieces, whole) << h.text() << " isa " << isa_name(isa) << " chunks of " << chunk;
      }
    }
}

TEST(Attention, a_tokens_bits_are_the_same_past_the_segments) {
  for (const Heads& h : {Heads{.heads = 3, .kv_heads = 1, .head_dim = 64},
                         Heads{.heads = 3, .kv_heads = 1, .head_dim = 64, .cache = DType::i8}})
    for (Isa isa : isas_here()) {
      Cache a(h, 1100), b(h, 1100);
      const std::vector<float> whole = run_attention(isa, h, a, run_of(0, 0, 1040), 2);
      run_attention(isa, h, b, run_of(0, 0, 505), 1);
      std::vector<float> tail;
      for (int32_t at = 505; at < 1040; at += 5) {
        const std::vector<float> y = run_attention(isa, h, b, run_of(0, at, 5), 1);
        tail.insert(tail.end(), y.begin(), y.end());
      }
      EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.begin() + 505 * 3 * 64)) << isa_name(isa);
    }
}

// Half precision ends at 65504; an infinity in the cache would turn a masked neighbour's zero weight into NaN.
TEST(Attention, keys_and_values_beyond_a_types_largest_number_stay_finite) {
  struct Case {
    DType cache;
    float least;
  };
  for (Isa isa : isas_here())
    for (Case c : {Case{DType::f16, -65504.0f}, {DType::i8, -65504.0f}, {DType::f8e4m3, -448.0f}}) {
      std::vector<float> q(16, 0.0f), k(16, std::numeric_limits<float>::infinity()), v(16, -1e38f), y(16);
      std::vector<float> k_cache(16 * 16), v_cache(16 * 16);
      const int32_t zero = 0;
      AttentionParams p;
      p.q = q.data();
      p.k = k.data();
      p.v = v.data();
      p.q_stride = p.k_stride = p.v_stride = p.y_stride = 16;
      p.tokens = p.heads = p.kv_heads = 1;
      p.head_dim = p.page_tokens = 16;
      p.positions = p.sequence = p.page_table = &zero;
      p.pages_per_sequence = 1;
      p.cache = c.cache;
      p.k_cache = k_cache.data();
      p.v_cache = v_cache.data();
      p.y = y.data();
      testing::run_kernel(isa_kernels(isa).attention, p);
      EXPECT_FLOAT_EQ(y[0], c.least) << isa_name(isa) << " " << dtype_name(c.cache);
    }
}

TEST(Attention, a_row_of_zeros_has_codes_of_zero) {
  for (Isa isa : isas_here()) {
    const Heads h{.heads = 1, .kv_heads = 1, .head_dim = 16, .page_tokens = 16, .cache = DType::i8};
    std::vector<float> q(16, 1.0f), zeros(16, 0.0f), y(16, -1.0f);
    std::vector<std::byte> k_cache(h.cache_bytes(1)), v_cache(h.cache_bytes(1));
    const int32_t zero = 0;
    AttentionParams p;
    p.q = q.data();
    p.k = p.v = zeros.data();
    p.q_stride = p.k_stride = p.v_stride = p.y_stride = 16;
    p.tokens = p.heads = p.kv_heads = 1;
    p.head_dim = p.page_tokens = 16;
    p.positions = p.sequence = p.page_table = &zero;
    p.pages_per_sequence = 1;
    p.cache = DType::i8;
    p.k_cache = k_cache.data();
    p.v_cache = v_cache.data();
    p.y = y.data();
    testing::run_kernel(isa_kernels(isa).attention, p);
    EXPECT_EQ(y, zeros) << isa_name(isa);
  }
}

TEST(Rope, agrees_with_the_evaluator) {
  const int64_t tokens = 7;
  const std::vector<int32_t> positions = {0, 1, 2, 100, 1000, 4095, 31};
  for (Isa isa : isas_here())
    for (bool interleaved : {false, true})
      for (auto [head_dim, rotary] : {std::pair{64, 64}, {80, 32}, {16, 16}, {20, 6}}) {
        const int heads = 3, width = heads * head_dim;
        const Heads h{.rotary_dim = rotary};
        const std::vector<float> f = frequencies(h);
        const std::vector<float> x = random_floats(static_cast<size_t>(tokens * width), 3);
        std::vector<float> y(x.size()), angles(static_cast<size_t>(tokens * rotary));
        testing::run_kernel(isa_kernels(isa).rope_table, {.positions = positions.data(),
                                                          .tokens = tokens,
                                                          .inv_freq = f.data(),
                                                          .rotary_dim = rotary,
                                                          .scale = 1.5f,
                                                          .cos_sin = angles.data()});
        testing::run_kernel(isa_kernels(isa).rope, {.x = x.data(),
                                                    .x_stride = width,
                                                    .tokens = tokens,
                                                    .heads = heads,
                                                    .head_dim = head_dim,
                                                    .rotary_dim = rotary,
                                                    .cos_sin = angles.data(),
                                                    .interleaved = interleaved,
                                                    .y = y.data(),
                                                    .y_stride = width});
        const auto want = ops::numbers_of(
            "rope",
            {ops::f32({tokens, width}, {x.begin(), x.end()}), ops::i32({tokens}, {positions.begin(), positions.end()}),
             ops::f32({rotary / 2}, {f.begin(), f.end()})},
            {{"head_dim", int64_t{head_dim}}, {"interleaved", interleaved}, {"scale", 1.5}});
        // The evaluator's f32 angle of position 4095 is off by half a unit in its last place, 2.4e-4 radians.
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y[i], want[i], 2e-3) << isa_name(isa) << " head_dim " << head_dim << " at " << i;
      }
}

}  // namespace
}  // namespace nereid::kernels
