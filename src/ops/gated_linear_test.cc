// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({1, 2}, {1, 2});
const Tensor kGate = f32({2, 2}, {1, 0, -1, 0});
const Tensor kUp = f32({2, 2}, {0, 1, 1, 1});

TEST(GatedLinear, the_activated_gate_scales_the_other_half) {
  // gate = [1, -1], up = [2, 3]
  EXPECT_THAT(numbers_of("gated_linear", {kX, kGate, kUp}, {{"activation", "relu"}}), near({2, 0}));
  EXPECT_THAT(numbers_of("gated_linear", {kX, kGate, kUp}), near({1.4621171573, -0.8068242641}));
}

TEST(GatedLinear, a_norm_weight_normalises_x_first) {
  const auto y = numbers_of("gated_linear", {f32({1, 2}, {3, 4}), kGate, kUp, f32({2}, {1, 1})},
                            {{"activation", "relu"}, {"norm_eps", 0.0}});
  EXPECT_THAT(y, near({12 / 12.5, 0}));
}

TEST(GatedLinear, the_two_weights_must_have_the_same_rows) {
  EXPECT_EQ(refusal("gated_linear", {kX, kGate, f32({1, 2}, {1, 1})}),
            "dimension 0 of w_gate f32[2, 2] is 2, but dimension 0 of w_up f32[1, 2] is 1");
}

TEST(GatedLinear, an_unknown_activation_is_refused_with_the_known_ones) {
  EXPECT_EQ(refusal("gated_linear", {kX, kGate, kUp}, {{"activation", "swish"}}),
            "there is no activation 'swish'; known are gelu, gelu_tanh, relu, sigmoid, silu, tanh");
}

}  // namespace
}  // namespace nereid::ops
