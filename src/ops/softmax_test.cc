// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(Softmax, rows_sum_to_one) {
  const double ln3 = std::log(3.0);
  EXPECT_THAT(numbers_of("softmax", {f32({2, 2}, {0, ln3, ln3, 0})}), near({0.25, 0.75, 0.75, 0.25}));
}

TEST(Softmax, other_axes_sum_to_one_too) {
  const double ln3 = std::log(3.0);
  EXPECT_THAT(numbers_of("softmax", {f32({2, 2}, {0, 5, ln3, 5})}, {{"axis", int64_t{0}}}),
              near({0.25, 0.5, 0.75, 0.5}));
}

TEST(Softmax, large_values_do_not_overflow_and_masked_ones_vanish) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(numbers_of("softmax", {f32({1, 3}, {1e30, 1e30, -inf})}), near({0.5, 0.5, 0}, 0));
}

TEST(Softmax, an_axis_that_does_not_exist_is_refused) {
  EXPECT_EQ(refusal("softmax", {f32({2}, {1, 2})}, {{"axis", int64_t{1}}}), "x f32[2] has no dimension 1");
}

TEST(Softmax, an_empty_axis_gives_an_empty_result) {
  EXPECT_TRUE(numbers_of("softmax", {f32({2, 0}, {})}).empty());
}

TEST(Softmax, doubles_keep_their_digits) {
  const Tensor x = Tensor::of(DType::f64, {2}, {0, 1e-12});
  EXPECT_THAT(numbers_of("softmax", {x}), near({0.5 - 0.25e-12, 0.5 + 0.25e-12}, 1e-15));
}

TEST(LogSoftmax, is_the_logarithm) {
  EXPECT_THAT(numbers_of("log_softmax", {f32({2}, {0, 0})}), near({-std::log(2.0), -std::log(2.0)}));
  EXPECT_THAT(numbers_of("log_softmax", {f32({2}, {1000, 0})}), near({0, -1000}));
}

TEST(Hardmax, is_one_for_the_first_largest) {
  EXPECT_THAT(numbers_of("hardmax", {f32({2, 3}, {1, 3, 3, 0, -1, -2})}), testing::ElementsAre(0, 1, 0, 1, 0, 0));
  EXPECT_EQ(refusal("hardmax", {i32({2}, {1, 2})}), "x i32[2] should be f32, f64, f16 or bf16");
}

TEST(LpNormalization, rows_have_length_one_and_zeros_stay) {
  const Tensor x = f32({2, 2}, {3, -4, 0, 0});
  EXPECT_THAT(numbers_of("lp_normalization", {x}), near({0.6, -0.8, 0, 0}));
  EXPECT_THAT(numbers_of("lp_normalization", {x}, {{"p", int64_t{1}}}), near({3.0 / 7, -4.0 / 7, 0, 0}));
  EXPECT_EQ(refusal("lp_normalization", {x}, {{"p", int64_t{3}}}), "p is 3 and should be 1 or 2");
}

}  // namespace
}  // namespace nereid::ops
