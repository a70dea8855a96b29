// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(Scale, every_element_is_multiplied) {
  EXPECT_THAT(numbers_of("scale", {f32({2}, {1, -4})}, {{"factor", 0.25}}), near({0.25, -1}, 0));
}

TEST(Scale, an_integer_factor_counts_as_a_number) {
  EXPECT_THAT(numbers_of("scale", {f32({1}, {3})}, {{"factor", int64_t{2}}}), near({6}, 0));
}

TEST(Softcap, large_values_approach_the_cap) {
  EXPECT_THAT(numbers_of("softcap", {f32({3}, {0, 1e9, -2})}, {{"cap", 2.0}}), near({0, 2, -1.5231883119}));
}

TEST(Softcap, the_cap_must_be_positive) {
  EXPECT_EQ(refusal("softcap", {f32({1}, {1})}, {{"cap", 0.0}}), "cap is 0 and should be positive");
}

}  // namespace
}  // namespace nereid::ops
