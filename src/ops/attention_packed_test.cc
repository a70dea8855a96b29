// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

constexpr double kLn3 = 1.0986122886681098;

// Heads of two elements.
Attrs attrs(int64_t heads = 1, int64_t kv_heads = 1) {
  return {{"heads", heads}, {"kv_heads", kv_heads}, {"head_dim", int64_t{2}}, {"scale", 1.0}};
}

// The first query scores its own key 0 and the second ln 3: weights 1/4 and 3/4.
const Tensor kQ = f32({2, 2}, {0, kLn3, 0, 0});
const Tensor kK = f32({2, 2}, {1, 0, 0, 1});
const Tensor kV = f32({2, 2}, {4, 0, 0, 8});

TEST(AttentionPacked, a_token_sees_what_comes_before_and_after_it) {
  EXPECT_THAT(numbers_of("attention_packed", {kQ, kK, kV, i32({2}, {0, 2})}, attrs()), near({1, 6, 2, 4}));
}

TEST(AttentionPacked, sequences_do_not_see_each_other) {
  EXPECT_THAT(numbers_of("attention_packed", {kQ, kK, kV, i32({3}, {0, 1, 2})}, attrs()), near({4, 0, 0, 8}));
  EXPECT_THAT(numbers_of("attention_packed", {kQ, kK, kV, i32({4}, {0, 0, 2, 2})}, attrs()), near({1, 6, 2, 4}));
}

TEST(AttentionPacked, a_causal_token_sees_nothing_after_it) {
  Attrs a = attrs();
  a.set("causal", true);
  EXPECT_THAT(numbers_of("attention_packed", {kQ, kK, kV, i32({2}, {0, 2})}, a), near({4, 0, 2, 4}));
}

TEST(AttentionPacked, a_window_hides_what_is_far_on_both_sides) {
  Attrs a = attrs();
  a.set("window", int64_t{2});
  const Tensor none = f32({3, 2}, {0, 0, 0, 0, 0, 0});
  const Tensor v = f32({3, 2}, {3, 0, 6, 0, 0, 9});
  EXPECT_THAT(numbers_of("attention_packed", {none, none, v, i32({2}, {0, 3})}, a), near({4.5, 0, 3, 3, 3, 4.5}));
}

TEST(AttentionPacked, distances_add_to_scores_head_by_head) {
  const Tensor q = f32({2, 4}, std::vector<double>(8, 0));
  const Tensor v = f32({2, 2}, {4, 0, 0, 8});
  // Head 0 scores the key before it ln 3, head 1 the one after it.
  const Tensor bias = f32({2, 3}, {kLn3, 0, 0, 0, 0, kLn3});
  EXPECT_THAT(numbers_of("attention_packed", {q, kK, v, i32({2}, {0, 2}), bias}, attrs(2, 1)),
              near({2, 4, 1, 6, 3, 2, 2, 4}));
}

TEST(AttentionPacked, what_does_not_fit_is_refused_with_its_numbers) {
  EXPECT_EQ(refusal("attention_packed", {kQ, kK, kV, i32({2}, {0, 1})}, attrs()),
            "starts should rise from 0 to the number of rows, 2");
  EXPECT_EQ(refusal("attention_packed", {kQ, kK, kV, i32({3}, {0, 3, 2})}, attrs()),
            "starts should rise from 0 to the number of rows, 2");
  EXPECT_EQ(refusal("attention_packed", {kQ, kK, kV, i32({2}, {0, 2}), f32({1, 1}, {0})}, attrs()),
            "sequence 0 has 2 rows, more than the 1 that the distances reach");
  EXPECT_EQ(refusal("attention_packed", {kQ, kK, kV, i32({2}, {0, 2}), f32({1, 2}, {0, 0})}, attrs()),
            "distance_bias f32[1, 2] should have an odd number of distances");
  EXPECT_EQ(refusal("attention_packed", {kQ, kK, kV, i32({2}, {0, 2})}, attrs(3, 2)),
            "heads (3) is not a multiple of kv_heads (2)");
}

}  // namespace
}  // namespace nereid::ops
