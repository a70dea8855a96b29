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

}  // namespace
}  // namespace nereid::ops
