// SPDX-License-Identifier: Apache-2.0
// Activations with parameters, clip, prelu, swiglu.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({4}, {-1, 0, 0.5, 3});

TEST(Parametric, defaults_are_those_of_the_formulas) {
  EXPECT_THAT(numbers_of("elu", {kX}), near({-0.63212055, 0, 0.5, 3}));
  EXPECT_THAT(numbers_of("selu", {kX}), near({-1.11133074, 0, 0.52535051, 3.15210306}));
  EXPECT_THAT(numbers_of("celu", {kX}), near({-0.63212055, 0, 0.5, 3}));
  EXPECT_THAT(numbers_of("leaky_relu", {kX}), near({-0.01, 0, 0.5, 3}));
  EXPECT_THAT(numbers_of("thresholded_relu", {kX}), near({0, 0, 0, 3}));
  EXPECT_THAT(numbers_of("hard_sigmoid", {kX}), near({0.3, 0.5, 0.6, 1}));
  EXPECT_THAT(numbers_of("swish", {kX}), near({-0.26894142, 0, 0.31122966, 2.85772238}));
  EXPECT_THAT(numbers_of("shrink", {kX}), near({-1, 0, 0, 3}));
}

TEST(Parametric, parameters_change_the_curve) {
  EXPECT_THAT(numbers_of("elu", {kX}, {{"alpha", 2.0}}), near({-1.26424111, 0, 0.5, 3}));
  EXPECT_THAT(numbers_of("celu", {kX}, {{"alpha", 2.0}}), near({-0.78693868, 0, 0.5, 3}));
  EXPECT_THAT(numbers_of("swish", {kX}, {{"alpha", 2.0}}), near({-0.11920292, 0, 0.36552928, 2.99258213}));
  EXPECT_THAT(numbers_of("shrink", {kX}, {{"lambd", 0.25}, {"bias", 0.25}}), near({-0.75, 0, 0.25, 2.75}));
  EXPECT_THAT(numbers_of("shrink", {i32({3}, {-5, 1, 5})}, {{"lambd", 2.0}, {"bias", 1.5}}), near({-3, 0, 3}, 0));
  EXPECT_EQ(refusal("celu", {kX}, {{"alpha", 0.0}}), "alpha is 0 and should not be");
  EXPECT_EQ(refusal("elu", {i32({1}, {1})}), "x i32[1] should be f32, f64, f16 or bf16");
}

TEST(Parametric, a_nan_stays_a_nan_unless_it_must_pass_a_threshold) {
  for (const char* op : {"elu", "selu", "celu", "leaky_relu", "hard_sigmoid", "swish"})
    EXPECT_TRUE(std::isnan(numbers_of(op, {f32({1}, {NAN})})[0])) << op;
  for (const char* op : {"thresholded_relu", "shrink"}) EXPECT_EQ(numbers_of(op, {f32({1}, {NAN})})[0], 0) << op;
}

TEST(Clip, either_bound_may_be_absent_and_the_upper_one_wins) {
  const Tensor none = absent();
  EXPECT_THAT(numbers_of("clip", {kX, f32({}, {-0.5}), f32({}, {1})}), near({-0.5, 0, 0.5, 1}, 0));
  EXPECT_THAT(numbers_of("clip", {kX, none, f32({1}, {1})}), near({-1, 0, 0.5, 1}, 0));
  EXPECT_THAT(numbers_of("clip", {kX}), near({-1, 0, 0.5, 3}, 0));
  EXPECT_THAT(numbers_of("clip", {kX, f32({}, {2}), f32({}, {1})}), near({1, 1, 1, 1}, 0));
  EXPECT_THAT(numbers_of("clip", {Tensor::of(DType::u8, {2}, {1, 200}), Tensor::of(DType::u8, {}, {3})}),
              near({3, 200}, 0));
  EXPECT_TRUE(std::isnan(numbers_of("clip", {f32({1}, {NAN}), f32({}, {0}), f32({}, {1})})[0]));
}

TEST(Clip, bounds_of_other_types_or_sizes_are_refused) {
  EXPECT_EQ(refusal("clip", {kX, i32({}, {0})}), "x f32[4] and min i32[] should have one element type");
  EXPECT_EQ(refusal("clip", {kX, f32({2}, {0, 1})}), "min f32[2] should be one number");
}

TEST(Prelu, the_slope_broadcasts_to_the_input) {
  const Tensor x = f32({2, 2}, {-1, 2, -3, -4});
  EXPECT_THAT(numbers_of("prelu", {x, f32({2}, {0.5, 10})}), near({-0.5, 2, -1.5, -40}, 0));
  EXPECT_THAT(numbers_of("prelu", {i32({2}, {-3, 3}), i32({}, {2})}), near({-6, 3}, 0));
  EXPECT_EQ(refusal("prelu", {f32({1}, {1}), f32({2}, {1, 2})}), "slope f32[2] does not broadcast to x f32[1]");
  EXPECT_EQ(refusal("prelu", {f32({1}, {1}), f32({1, 1}, {1})}), "slope f32[1, 1] does not broadcast to x f32[1]");
}

TEST(Swiglu, the_gate_scales_the_other_input) {
  EXPECT_THAT(numbers_of("swiglu", {kX, f32({4}, {1, 2, 3, 4})}), near({-0.26894142, 0, 0.93368900, 11.43088955}));
  EXPECT_EQ(refusal("swiglu", {kX, f32({1}, {1})}), "a f32[4] and b f32[1] should have the same type");
}

}  // namespace
}  // namespace nereid::ops
