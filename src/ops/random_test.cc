// SPDX-License-Identifier: Apache-2.0
// Random tensors: the same seed the same numbers, and moments that are those of their distributions.
#include <cmath>
#include <limits>

#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kMany = ints({100, 100});

std::pair<double, double> mean_and_deviation(const Numbers& values) {
  double sum = 0, squares = 0;
  for (double v : values) sum += v, squares += v * v;
  const double n = static_cast<double>(values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

TEST(Random, a_seed_tells_the_numbers) {
  const auto draw = [](double seed) { return values_of(run_op("random_normal", {ints({5})}, {{"seed", seed}})[0]); };
  EXPECT_EQ(draw(1.5), draw(1.5));
  EXPECT_NE(draw(1.5), draw(2.5));
}

TEST(Random, normal_numbers_have_their_mean_and_deviation) {
  const auto [mean, deviation] =
      mean_and_deviation(values_of(run_op("random_normal", {kMany}, {{"mean", 3.0}, {"scale", 2.0}})[0]));
  EXPECT_NEAR(mean, 3, 0.1);
  EXPECT_NEAR(deviation, 2, 0.1);
}

TEST(Random, uniform_numbers_lie_between_their_bounds) {
  const Tensor y = run_op("random_uniform", {kMany}, {{"low", -1.0}, {"high", 1.0}, {"dtype", "f64"}})[0];
  EXPECT_EQ(y.dtype, DType::f64);
  for (double v : values_of(y)) ASSERT_TRUE(v >= -1 && v < 1) << v;
  const auto [mean, deviation] = mean_and_deviation(values_of(y));
  EXPECT_NEAR(mean, 0, 0.05);
  EXPECT_NEAR(deviation, 1 / std::sqrt(3.0), 0.05);
}

TEST(Random, bernoulli_draws_ones_with_probability_p) {
  const Tensor p = run_op("constant_of_shape", {kMany, f32({1}, {0.25})})[0];
  const Tensor y = run_op("bernoulli", {p}, {{"dtype", "i32"}})[0];
  EXPECT_EQ(y.dtype, DType::i32);
  EXPECT_NEAR(mean_and_deviation(values_of(y)).first, 0.25, 0.02);
  EXPECT_EQ(values_of(run_op("bernoulli", {f32({2}, {0, 1})})[0]), (Numbers{0, 1}));
}

TEST(Random, multinomial_draws_what_is_likely) {
  const double never = -std::numeric_limits<double>::infinity();
  const Tensor y = run_op("multinomial", {f32({2, 3}, {never, 0, never, 0, 0, never})},
                          {{"sample_size", int64_t{1000}}, {"dtype", "i64"}})[0];
  EXPECT_EQ(y.sizes, (Ints{2, 1000}));
  const Numbers drawn = values_of(y);
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(drawn[i], 1);
  EXPECT_NEAR(mean_and_deviation({drawn.begin() + 1000, drawn.end()}).first, 0.5, 0.1);
}

TEST(Random, refusals) {
  EXPECT_EQ(refusal("random_normal", {ints({-1})}), "shape[0] is -1, which is no size");
  EXPECT_EQ(refusal("random_normal", {ints({1})}, {{"dtype", "string"}}),
            "random elements of type string are not known");
  EXPECT_EQ(refusal("multinomial", {f32({1, 0}, {})}), "logits f32[1, 0] has no outcomes to draw from");
  EXPECT_EQ(refusal("multinomial", {f32({1, 1}, {0})}, {{"dtype", "f32"}}), "dtype is f32 and should be i32 or i64");
  EXPECT_EQ(refusal("multinomial", {f32({1, 1}, {0})}, {{"sample_size", int64_t{-1}}}),
            "sample_size is -1 and should not be negative");
}

}  // namespace
}  // namespace nereid::ops
