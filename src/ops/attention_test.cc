// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <numbers>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

// One head of two elements, pages of two tokens, one sequence on pages 1 then 0 of three.
struct Step {
  std::vector<double> q, k, v, positions;
  std::vector<double> sequence = std::vector<double>(positions.size(), 0);
};

Attrs attrs(int64_t heads = 1, int64_t kv_heads = 1) {
  return {{"heads", heads}, {"kv_heads", kv_heads}, {"head_dim", int64_t{2}}, {"scale", 1.0}};
}

std::vector<Tensor> inputs(const Step& s, Tensor k_cache = f32({3, 1, 2, 2}, std::vector<double>(12, 0)),
                           Tensor v_cache = f32({3, 1, 2, 2}, std::vector<double>(12, 0))) {
  const auto n = static_cast<int64_t>(s.positions.size());
  const auto width = [&](const std::vector<double>& x) { return static_cast<int64_t>(x.size()) / n; };
  return {f32({n, width(s.q)}, s.q), f32({n, width(s.k)}, s.k), f32({n, width(s.v)}, s.v), std::move(k_cache),
          std::move(v_cache),        i32({n}, s.positions),     i32({n}, s.sequence),      i32({1, 2}, {1, 0})};
}

constexpr double kLn3 = 1.0986122886681098;

TEST(Attention, a_token_alone_sees_itself) {
  EXPECT_THAT(numbers_of("attention", inputs({{1, 2}, {3, 4}, {5, 6}, {0}}), attrs()), near({5, 6}));
}

TEST(Attention, later_tokens_weigh_earlier_ones_by_their_scores) {
  // Scores of the second token: ln 3 against the first key, 0 against its own: weights 3/4 and 1/4.
  const Step s{{1, 0, kLn3, 0}, {1, 0, 0, 1}, {4, 0, 0, 8}, {0, 1}};
  EXPECT_THAT(numbers_of("attention", inputs(s), attrs()), near({4, 0, 3, 2}));
}

TEST(Attention, keys_and_values_are_kept_in_the_pages_between_steps) {
  std::vector<Tensor> first = inputs({{1, 0, 1, 0, 1, 0}, {1, 0, 0, 1, 2, 2}, {4, 0, 0, 8, 1, 1}, {0, 1, 2}});
  ASSERT_TRUE(try_op("attention", first, attrs()).is_ok());
  // Page 1 holds positions 0 and 1, page 0 position 2, page 2 nothing.
  EXPECT_THAT(first[3].numbers(), near({2, 2, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0}, 0));
  EXPECT_THAT(first[4].numbers(), near({1, 1, 0, 0, 4, 0, 0, 8, 0, 0, 0, 0}, 0));
  // Position 3 alone, with a query that scores every key 0: the mean of the four values.
  const auto y = numbers_of("attention", inputs({{0, 0}, {9, 9}, {3, 3}, {3}}, first[3], first[4]), attrs());
  EXPECT_THAT(y, near({2, 3}));
}

TEST(Attention, a_window_hides_what_is_older) {
  Attrs a = attrs();
  a.set("window", int64_t{2});
  const Step s{{0, 0, 0, 0, 0, 0}, {1, 0, 0, 1, 2, 2}, {4, 0, 0, 8, 2, 2}, {0, 1, 2}};
  EXPECT_THAT(numbers_of("attention", inputs(s), a), near({4, 0, 2, 4, 1, 5}));
}

TEST(Attention, a_softcap_flattens_the_scores) {
  Attrs a = attrs();
  a.set("softcap", 1.0);
  const Step s{{1, 0, 100, 0}, {1, 0, 0, 1}, {1, 0, 0, 0}, {0, 1}};
  const double weight = std::exp(1.0) / (std::exp(1.0) + 1);  // tanh(100) is 1
  EXPECT_THAT(numbers_of("attention", inputs(s), a), near({1, 0, weight, 0}));
}

TEST(Attention, query_heads_share_key_heads_in_order) {
  // Four query heads over two key heads: heads 0 and 1 read the first value head, 2 and 3 the second.
  std::vector<Tensor> in =
      inputs({{1, 1, 1, 1, 1, 1, 1, 1}, {1, 0, 0, 1}, {5, 6, 7, 8}, {0}}, f32({3, 2, 2, 2}, std::vector<double>(24, 0)),
             f32({3, 2, 2, 2}, std::vector<double>(24, 0)));
  EXPECT_THAT(numbers_of("attention", in, attrs(4, 2)), near({5, 6, 5, 6, 7, 8, 7, 8}));
}

TEST(Attention, given_frequencies_rotate_queries_and_stored_keys) {
  std::vector<Tensor> in = inputs({{1, 0, 0, kLn3}, {1, 0, 1, 0}, {4, 0, 0, 8}, {0, 1}});
  in.push_back(f32({1}, {std::numbers::pi / 2}));
  auto y = try_op("attention", in, attrs());
  ASSERT_TRUE(y.is_ok());
  // The second key turns to (0, 1), the second query to (-ln 3, 0): scores -ln 3 and 0.
  EXPECT_THAT((*y)[0].numbers(), near({4, 0, 1, 6}));
  EXPECT_THAT(in[3].numbers(), near({0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0}));
}

TEST(Attention, caches_may_be_half_precision) {
  const Tensor cache = Tensor::of(DType::f16, {3, 1, 2, 2}, std::vector<double>(12, 0));
  EXPECT_THAT(numbers_of("attention", inputs({{1, 2}, {3, 4}, {5, 6.0001}, {0}}, cache, cache), attrs()),
              near({5, 6}, 0));
}

TEST(Attention, a_cache_of_codes_keeps_codes_and_a_scale_for_each_row) {
  std::vector<Tensor> in = inputs({{1, 2}, {3, -4}, {254, 100}, {0}}, *Tensor::zeros(DType::i8, {3, 1, 2, 6}),
                                  *Tensor::zeros(DType::i8, {3, 1, 2, 6}));
  auto y = try_op("attention", in, attrs());
  ASSERT_TRUE(y.is_ok()) << y.status().message();
  EXPECT_THAT((*y)[0].numbers(), near({254, 100}, 0));  // both are whole steps of 2
  // Page 1 is the first: keys 3 and -4 in steps of 4 / 127.
  const int8_t* key = in[3].view().as<int8_t>() + 12;
  float scale = 0;
  std::memcpy(&scale, key + 2, sizeof(scale));
  EXPECT_EQ(key[0], 95);
  EXPECT_EQ(key[1], -127);
  EXPECT_EQ(scale, 4.0f / 127.0f);
  const Tensor narrow = *Tensor::zeros(DType::i8, {3, 1, 2, 2});
  EXPECT_THAT(refusal("attention", inputs({{1, 2}, {3, 4}, {5, 6}, {0}}, narrow, narrow), attrs()),
              testing::HasSubstr("should be 6 (head_dim and a scale of 4 bytes)"));
}

TEST(Attention, a_cache_of_eight_bit_floats_saturates) {
  const Tensor cache = *Tensor::zeros(DType::f8e4m3, {3, 1, 2, 2});
  EXPECT_THAT(numbers_of("attention", inputs({{1, 2}, {3, 4}, {1.07, -1000}, {0}}, cache, cache), attrs()),
              near({1.125, -448}, 0));
}

TEST(Attention, positions_sequences_and_pages_out_of_range_are_named) {
  EXPECT_EQ(refusal("attention", inputs({{1, 2}, {3, 4}, {5, 6}, {4}}), attrs()),
            "position 4 of sequence 0 is past its 2 pages of 2 tokens");
  EXPECT_EQ(refusal("attention", inputs({{1, 2}, {3, 4}, {5, 6}, {0}, {1}}), attrs()),
            "sequence 1 is outside the page table of 1 sequences");
  std::vector<Tensor> in = inputs({{1, 2}, {3, 4}, {5, 6}, {0}});
  in[7] = i32({1, 2}, {3, 0});
  EXPECT_EQ(refusal("attention", in, attrs()), "page 3 of sequence 0 is outside the cache of 3 pages");
}

TEST(Attention, head_counts_must_fit_the_widths) {
  const std::vector<Tensor> in = inputs({{1, 2}, {3, 4}, {5, 6}, {0}});
  EXPECT_EQ(refusal("attention", in, attrs(3, 2)), "heads (3) is not a multiple of kv_heads (2)");
  EXPECT_EQ(refusal("attention", in, attrs(2, 1)), "dimension 1 of q f32[1, 2] should be 4 (heads * head_dim)");
  EXPECT_EQ(refusal("attention", in, attrs(1, 0)), "kv_heads is 0 and should be between 1 and 1048576");
}

}  // namespace
}  // namespace nereid::ops
