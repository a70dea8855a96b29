// SPDX-License-Identifier: Apache-2.0
// Attention over tensors, rotary embeddings, linear attention and causal convolution.
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Queries and keys of zeros see everything equally: results are means of values.
const Tensor kZeros = f32({1, 1, 3, 1}, {0, 0, 0});
const Tensor kValues = f32({1, 1, 3, 1}, {1, 2, 6});

TEST(ScaledDotAttention, is_a_mean_by_likeness) {
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues}), near({3, 3, 3}));
  const Tensor q = f32({1, 1, 1, 1}, {1});
  const Tensor k = f32({1, 1, 2, 1}, {0, std::log(3.0)});
  EXPECT_THAT(numbers_of("scaled_dot_attention", {q, k, f32({1, 1, 2, 1}, {0, 4})}), near({3}));
  EXPECT_THAT(numbers_of("scaled_dot_attention", {q, k, f32({1, 1, 2, 1}, {0, 4})}, {{"scale", 2.0}}), near({3.6}));
}

TEST(ScaledDotAttention, sees_no_future_and_not_past_its_window) {
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues}, {{"is_causal", true}}), near({1, 1.5, 3}));
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues}, {{"left_window_size", int64_t{0}}}),
              near({3, 4, 6}));
  EXPECT_THAT(
      numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues},
                 {{"left_window_size", std::numeric_limits<int64_t>::max()}, {"right_window_size", int64_t{1}}}),
      near({1.5, 3, 3}));
}

TEST(ScaledDotAttention, masks_hide_or_add) {
  const Tensor mask = Tensor::of(DType::boolean, {3, 3}, {1, 0, 0, 1, 1, 0, 0, 0, 0});
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues, mask}), near({1, 1.5, 0}));
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues, f32({3}, {0, std::log(2.0), -kInf})}),
              near({5.0 / 3, 5.0 / 3, 5.0 / 3}));
  // A mask that is too short hides the rest.
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues, f32({1, 2}, {0, 0})}),
              near({1.5, 1.5, 1.5}));
}

TEST(ScaledDotAttention, the_past_comes_first) {
  const Tensor q = f32({1, 1, 1, 1}, {0});
  const auto y = run_op("scaled_dot_attention", {q, q, f32({1, 1, 1, 1}, {9}), absent(), kZeros, kValues},
                        {{"is_causal", true}, {"present", true}, {"scores", true}});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_THAT(y[0].numbers(), near({4.5}));
  EXPECT_EQ(y[1].sizes, (Ints{1, 1, 4, 1}));
  EXPECT_THAT(y[2].numbers(), ElementsAre(1, 2, 6, 9));
  EXPECT_EQ(y[3].sizes, (Ints{1, 1, 1, 4}));
}

TEST(ScaledDotAttention, padding_is_not_seen) {
  const Tensor two = Tensor::of(DType::i64, {1}, {2});
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues, absent(), absent(), absent(), two}),
              near({1.5, 1.5, 1.5}));
  // Three queries and two keys: the first query is before all keys.
  EXPECT_THAT(numbers_of("scaled_dot_attention", {kZeros, kZeros, kValues, absent(), absent(), absent(), two},
                         {{"is_causal", true}}),
              near({0, 1, 1.5}));
}

TEST(ScaledDotAttention, query_heads_share_key_heads) {
  const Tensor q = f32({1, 1, 2}, {0, 0});  // one step, two heads of one
  const Tensor v = f32({1, 2, 1}, {2, 4});
  const auto y = run_op("scaled_dot_attention", {q, f32({1, 2, 1}, {0, 0}), v},
                        {{"q_num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}});
  EXPECT_EQ(y[0].sizes, (Ints{1, 1, 2}));
  EXPECT_THAT(y[0].numbers(), near({3, 3}));
}

TEST(ScaledDotAttention, scores_at_each_stage) {
  const Tensor q = f32({1, 1, 1, 1}, {2}), k = f32({1, 1, 2, 1}, {1, 3}), mask = f32({2}, {0, -kInf});
  const auto scores = [&](int64_t mode) {
    return run_op("scaled_dot_attention", {q, k, k, mask},
                  {{"scores", true}, {"softcap", 4.0}, {"qk_matmul_output_mode", mode}})[1]
        .numbers();
  };
  EXPECT_THAT(scores(0), near({2, 6}));
  EXPECT_THAT(scores(1), near({4 * std::tanh(0.5), 4 * std::tanh(1.5)}));
  EXPECT_EQ(scores(2)[1], -kInf);
  EXPECT_THAT(scores(3), near({1, 0}));
}

TEST(ScaledDotAttention, refuses_what_does_not_fit) {
  const Tensor flat = f32({1, 1, 2}, {0, 0});
  EXPECT_THAT(refusal("scaled_dot_attention", {flat, flat, flat}), HasSubstr("the number of heads is not given"));
  EXPECT_THAT(refusal("scaled_dot_attention", {kZeros, kZeros, f32({1, 1, 2, 1}, {0, 0})}),
              HasSubstr("the lengths of k and v are 3 and 2"));
  EXPECT_THAT(refusal("scaled_dot_attention", {kZeros, kZeros, kValues, f32({2, 3}, {0, 0, 0, 0, 0, 0})}),
              HasSubstr("does not broadcast to [1, 1, 3, 3]"));
  EXPECT_THAT(refusal("scaled_dot_attention", {kZeros, kZeros, kValues, absent(), kZeros}),
              HasSubstr("come together or not at all"));
  EXPECT_THAT(refusal("scaled_dot_attention",
                      {f32({1, 3, 1, 1}, {0, 0, 0}), f32({1, 2, 1, 1}, {0, 0}), f32({1, 2, 1, 1}, {0, 0})}),
              HasSubstr("3 heads of q cannot share 2 heads of k"));
}

TEST(RotaryEmbedding, turns_pairs_of_halves_or_neighbours) {
  const Tensor x = f32({1, 1, 1, 4}, {1, 2, 3, 4});
  const Tensor c = f32({1, 1, 2}, {0, 1}), s = f32({1, 1, 2}, {1, 0});
  EXPECT_THAT(numbers_of("rotary_embedding", {x, c, s}), near({-3, 2, 1, 4}));
  EXPECT_THAT(numbers_of("rotary_embedding", {x, c, s}, {{"interleaved", true}}), near({-2, 1, 3, 4}));
}

TEST(RotaryEmbedding, part_of_each_head_by_position) {
  const Tensor x = f32({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor c = f32({2, 1}, {1, 0}), s = f32({2, 1}, {0, 1});
  const Attrs attrs{{"num_heads", int64_t{1}}, {"rotary_embedding_dim", int64_t{2}}};
  EXPECT_THAT(numbers_of("rotary_embedding", {x, c, s, Tensor::of(DType::i64, {1, 2}, {1, 0})}, attrs),
              near({-2, 1, 3, 4, 5, 6}));
  EXPECT_EQ(refusal("rotary_embedding", {x, c, s, Tensor::of(DType::i64, {1, 2}, {2, 0})}, attrs),
            "position 2 is past the 2 that the caches have");
  EXPECT_EQ(refusal("rotary_embedding", {x, c, s, Tensor::of(DType::i64, {1, 2}, {-1, 0})}, attrs),
            "position -1 is past the 2 that the caches have");
  EXPECT_THAT(refusal("rotary_embedding", {x, c, s}, {{"num_heads", int64_t{1}}}),
              HasSubstr("cannot be turned in pairs"));
}

// One head of one key and one value: the state is a number.
TEST(LinearAttention, rules_of_update) {
  const Tensor q = f32({1, 2, 1}, {1, 1}), k = f32({1, 2, 1}, {1, 2}), v = f32({1, 2, 1}, {3, 5});
  const Tensor half = f32({1, 2, 1}, {std::log(0.5), std::log(0.5)}), beta = f32({1, 2, 1}, {1, 0.5});
  const auto by = [&](const char* rule) {
    return run_op("linear_attention", {q, k, v, absent(), half, beta},
                  {{"q_num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}, {"update_rule", std::string(rule)}});
  };
  EXPECT_THAT(by("linear")[0].numbers(), near({3, 13}));
  EXPECT_THAT(by("gated")[0].numbers(), near({3, 11.5}));
  EXPECT_THAT(by("delta")[0].numbers(), near({3, 3 + 0.5 * 2 * (5 - 6)}));
  EXPECT_THAT(by("gated_delta")[0].numbers(), near({3, 1.5 + 0.5 * 2 * (5 - 3)}));
  EXPECT_THAT(by("linear")[1].numbers(), near({13}));
  EXPECT_EQ(by("linear")[1].sizes, (Ints{1, 1, 1, 1}));
}

TEST(LinearAttention, refuses_what_does_not_fit) {
  const Tensor x = f32({1, 1, 2}, {1, 1});
  const auto attrs = [](int64_t q, int64_t kv, const char* rule) {
    return Attrs{{"q_num_heads", q}, {"kv_num_heads", kv}, {"update_rule", std::string(rule)}};
  };
  EXPECT_THAT(refusal("linear_attention", {x, x, x}, attrs(2, 0, "linear")), HasSubstr("cannot share"));
  EXPECT_THAT(refusal("linear_attention", {x, x, x}, attrs(3, 3, "linear")),
              HasSubstr("no whole number per head of 3"));
  EXPECT_EQ(refusal("linear_attention", {x, x, x}, attrs(1, 1, "gated")), "the gated rules need decay");
  EXPECT_EQ(refusal("linear_attention", {x, x, x}, attrs(1, 1, "delta")), "the delta rules need beta");
  EXPECT_THAT(refusal("linear_attention", {x, x, x}, attrs(1, 1, "other")), HasSubstr("the update rule is 'other'"));
}

TEST(CausalConvWithState, keeps_what_the_next_call_needs) {
  const Tensor x = f32({1, 1, 3}, {1, 2, 3}), weight = f32({1, 1, 2}, {10, 1});
  const auto y = run_op("causal_conv_with_state", {x, weight, f32({1}, {100}), f32({1, 1, 1}, {5})});
  EXPECT_THAT(y[0].numbers(), near({151, 112, 123}));
  EXPECT_THAT(y[1].numbers(), ElementsAre(3));
  EXPECT_THAT(numbers_of("causal_conv_with_state", {x, weight}, {{"activation", std::string("silu")}}),
              near({1 / (1 + std::exp(-1)), 12 / (1 + std::exp(-12)), 23}, 1e-5));
  EXPECT_THAT(refusal("causal_conv_with_state", {x, weight, absent(), f32({1, 1, 2}, {5, 5})}),
              HasSubstr("should have 1 steps"));
  EXPECT_THAT(refusal("causal_conv_with_state", {x, weight}, {{"activation", std::string("relu")}}),
              HasSubstr("none, silu or swish"));
}

}  // namespace
}  // namespace nereid::ops
