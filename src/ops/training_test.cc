// SPDX-License-Identifier: Apache-2.0
// Losses and the steps of optimisers.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

const Tensor kX = f32({2, 3}, {-1, -2, -3, -4, -5, -6});

Attrs reduction(const char* name) {
  return {{"reduction", std::string(name)}};
}

TEST(NegativeLogLikelihoodLoss, picks_the_class_of_each_sample) {
  const Tensor target = i32({2}, {0, 2}), weight = f32({3}, {1, 10, 3});
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {kX, target}, reduction("none")), near({1, 6}));
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {kX, target}), near({3.5}));
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {kX, target, weight}), near({19.0 / 4}));
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {kX, target, weight}, reduction("sum")), near({19}));
}

TEST(NegativeLogLikelihoodLoss, ignored_samples_do_not_count) {
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {kX, i32({2}, {-7, 2})}, {{"ignore_index", Ints{-7}}}),
              near({6}));
}

TEST(NegativeLogLikelihoodLoss, more_dimensions_have_a_class_each) {
  const Tensor x = f32({1, 2, 2}, {-1, -2, -3, -4});
  EXPECT_THAT(numbers_of("negative_log_likelihood_loss", {x, i32({1, 2}, {1, 0})}, reduction("none")), near({3, 2}));
}

TEST(NegativeLogLikelihoodLoss, refuses_classes_that_there_are_not) {
  EXPECT_EQ(refusal("negative_log_likelihood_loss", {kX, i32({2}, {0, 3})}), "target 1 is class 3 of 3");
  EXPECT_EQ(refusal("negative_log_likelihood_loss", {kX, i32({2}, {-1, 0})}), "target 0 is class -1 of 3");
  EXPECT_THAT(refusal("negative_log_likelihood_loss", {kX, i32({3}, {0, 0, 0})}), HasSubstr("dimension 0 of x"));
  EXPECT_THAT(refusal("negative_log_likelihood_loss", {kX, i32({2}, {0, 0})}, reduction("max")),
              HasSubstr("the reduction is 'max'"));
}

const Tensor kRate = f32({}, {0.5});
Tensor count(double n) {
  return Tensor::of(DType::i64, {}, {n});
}
Tensor one(double v) {
  return f32({1}, {v});
}

TEST(Optimizer, momentum_standard_and_nesterov) {
  const auto by = [](const char* mode, double n) {
    return run_op("momentum", {kRate, count(n), one(1), one(2), one(3)},
                  {{"alpha", 0.5}, {"beta", 0.25}, {"norm_coefficient", 1.0}, {"mode", std::string(mode)}});
  };
  EXPECT_THAT(by("standard", 0)[1].numbers(), near({4.5}));
  EXPECT_THAT(by("standard", 1)[1].numbers(), near({2.25}));
  EXPECT_THAT(by("standard", 1)[0].numbers(), near({1 - 0.5 * 2.25}));
  EXPECT_THAT(by("nesterov", 1)[0].numbers(), near({1 - 0.5 * (3 + 0.5 * 2.25)}));
}

TEST(Optimizer, adagrad_and_adam) {
  const auto adagrad =
      run_op("adagrad", {kRate, count(1), one(1), one(2), one(5)}, {{"decay_factor", 1.0}, {"epsilon", 0.0}});
  EXPECT_THAT(adagrad[1].numbers(), near({9}));
  EXPECT_THAT(adagrad[0].numbers(), near({1 - 0.25 * 2 / 3}));
  const auto adam = run_op("adam", {kRate, count(0), one(1), one(2), one(4), one(0)},
                           {{"alpha", 0.5}, {"beta", 0.0}, {"epsilon", 0.0}, {"norm_coefficient_post", 0.5}});
  EXPECT_THAT(adam[1].numbers(), near({3}));
  EXPECT_THAT(adam[2].numbers(), near({4}));
  EXPECT_THAT(adam[0].numbers(), near({0.5 * (1 - 0.5 * 3 / 2)}));
}

TEST(Optimizer, several_tensors_in_groups) {
  const auto y =
      run_op("adagrad", {kRate, count(0), one(1), one(2), one(3), one(4), one(0), one(0)}, {{"epsilon", 0.0}});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_THAT(y[0].numbers(), near({0.5}));
  EXPECT_THAT(y[1].numbers(), near({1.5}));
  EXPECT_THAT(y[3].numbers(), near({16}));
}

TEST(Optimizer, refuses_groups_that_are_not_whole) {
  EXPECT_THAT(refusal("adagrad", {kRate, count(0), one(1), one(2)}), HasSubstr("2 tensors and should be 3 for each"));
  EXPECT_THAT(refusal("adagrad", {kRate, count(0), one(1), f32({2}, {1, 2}), one(0)}), HasSubstr("the same type"));
}

}  // namespace
}  // namespace nereid::ops
