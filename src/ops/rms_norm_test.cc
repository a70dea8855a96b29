// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({2, 2}, {3, 4, 6, 8});  // root mean squares sqrt(12.5) and sqrt(50)
const Attrs kExact{{"eps", 0.0}};

TEST(RmsNorm, rows_get_root_mean_square_one) {
  EXPECT_THAT(numbers_of("rms_norm", {kX}, kExact), near({0.8485281374, 1.1313708499, 0.8485281374, 1.1313708499}));
}

TEST(RmsNorm, weight_multiplies_and_residual_adds) {
  EXPECT_THAT(numbers_of("rms_norm", {kX, f32({2}, {1, 10}), f32({2, 2}, {1, 1, 2, 2})}, kExact),
              near({1.8485281374, 12.3137084990, 2.8485281374, 13.3137084990}, 2e-6));
}

TEST(RmsNorm, eps_keeps_a_row_of_zeros_at_zero) {
  EXPECT_THAT(numbers_of("rms_norm", {f32({1, 2}, {0, 0})}), near({0, 0}, 0));
}

TEST(RmsNorm, groups_are_normalised_each_by_itself_with_one_weight) {
  const auto y =
      numbers_of("rms_norm", {f32({1, 4}, {3, 4, 6, 8}), f32({2}, {1, 10})}, {{"eps", 0.0}, {"group", int64_t{2}}});
  EXPECT_THAT(y, near({0.8485281374, 11.3137084990, 0.8485281374, 11.3137084990}, 2e-6));
}

TEST(RmsNorm, a_group_must_divide_the_row_and_fit_the_weight) {
  EXPECT_EQ(refusal("rms_norm", {kX}, {{"group", int64_t{3}}}), "x f32[2, 2] does not split into groups of 3");
  EXPECT_EQ(refusal("rms_norm", {kX, f32({2}, {1, 1})}, {{"group", int64_t{1}}}),
            "dimension 0 of weight f32[2] should be 1 (group)");
  EXPECT_EQ(refusal("rms_norm", {kX, f32({3}, {1, 1, 1})}),
            "dimension 1 of x f32[2, 2] is 2, but dimension 0 of weight f32[3] is 3");
}

}  // namespace
}  // namespace nereid::ops
