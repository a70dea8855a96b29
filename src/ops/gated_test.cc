// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(Gated, the_gate_is_activated_and_multiplied) {
  const Tensor gate = f32({3}, {1, 0, -1});
  const Tensor up = f32({3}, {2, 5, 3});
  EXPECT_THAT(numbers_of("gated", {gate, up}), near({1.4621171573, 0, -0.8068242641}));
  EXPECT_THAT(numbers_of("gated", {gate, up}, {{"activation", "gelu_tanh"}}), near({1.6823839812, 0, -0.4764240283}));
}

TEST(Gated, both_sides_need_one_type) {
  EXPECT_EQ(refusal("gated", {f32({2}, {1, 2}), f32({1}, {1})}), "gate f32[2] and up f32[1] should have the same type");
}

}  // namespace
}  // namespace nereid::ops
