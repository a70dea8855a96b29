// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(LayerNorm, rows_get_mean_zero_and_variance_one) {
  const Tensor x = f32({2, 2}, {1, 3, 10, 30});
  EXPECT_THAT(numbers_of("layer_norm", {x, f32({2}, {1, 1})}, {{"eps", 0.0}}), near({-1, 1, -1, 1}));
  EXPECT_THAT(numbers_of("layer_norm", {x, f32({2}, {2, 3}), f32({2}, {10, 20})}, {{"eps", 0.0}}),
              near({8, 23, 8, 23}));
}

TEST(LayerNorm, a_row_of_equal_numbers_gives_the_bias) {
  EXPECT_THAT(numbers_of("layer_norm", {f32({1, 2}, {5, 5}), f32({2}, {1, 1}), f32({2}, {7, 8})}), near({7, 8}, 0));
}

TEST(LayerNorm, a_weight_of_another_size_is_refused) {
  EXPECT_EQ(refusal("layer_norm", {f32({1, 2}, {1, 2}), f32({1}, {1})}),
            "dimension 1 of x f32[1, 2] is 2, but dimension 0 of weight f32[1] is 1");
}

}  // namespace
}  // namespace nereid::ops
