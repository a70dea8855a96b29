// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({4}, {-1, 0, 0.5, 2});

// Values of the formulas, computed with 50 digits and rounded.
TEST(Unary, activations_have_the_values_of_their_formulas) {
  EXPECT_THAT(numbers_of("silu", {kX}), near({-0.2689414214, 0, 0.3112296656, 1.7615941560}));
  EXPECT_THAT(numbers_of("gelu", {kX}), near({-0.1586552539, 0, 0.3457312307, 1.9544997361}));
  EXPECT_THAT(numbers_of("gelu_tanh", {kX}), near({-0.1588080094, 0, 0.3457140335, 1.9545976878}));
  EXPECT_THAT(numbers_of("relu", {kX}), near({0, 0, 0.5, 2}));
  EXPECT_THAT(numbers_of("sigmoid", {kX}), near({0.2689414214, 0.5, 0.6224593312, 0.8807970780}));
  EXPECT_THAT(numbers_of("tanh", {kX}), near({-0.7615941560, 0, 0.4621171573, 0.9640275801}));
  EXPECT_THAT(numbers_of("exp", {kX}), near({0.3678794412, 1, 1.6487212707, 7.3890560989}));
  EXPECT_THAT(numbers_of("neg", {kX}), near({1, 0, -0.5, -2}));
  EXPECT_THAT(numbers_of("sqrt", {f32({2}, {4, 2})}), near({2, 1.4142135624}));
}

TEST(Unary, half_precision_results_are_rounded_once) {
  const Tensor y = run_op("exp", {Tensor::of(DType::bf16, {1}, {1})})[0];
  EXPECT_EQ(y.dtype, DType::bf16);
  EXPECT_THAT(y.numbers(), near({2.71875}, 0));
}

TEST(Unary, a_nan_stays_a_nan) {
  for (const char* op : {"relu", "silu", "gelu", "gelu_tanh", "tanh"})
    EXPECT_TRUE(std::isnan(numbers_of(op, {f32({1}, {NAN})})[0])) << op;
}

TEST(Unary, integers_are_refused_with_their_type) {
  EXPECT_EQ(refusal("silu", {i32({2}, {1, 2})}), "x i32[2] should be f32, f64, f16 or bf16");
}

TEST(Unary, identity_takes_any_type) {
  EXPECT_THAT(numbers_of("identity", {i32({2}, {7, -3})}), near({7, -3}, 0));
}

}  // namespace
}  // namespace nereid::ops
