// SPDX-License-Identifier: Apache-2.0
// Normalisations by batch, group, instance, layer and neighbourhood, and dropout.
#include "ops/normalization.h"

#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

Tensor vec(const std::vector<double>& values) {
  return f32({static_cast<int64_t>(values.size())}, values);
}

TEST(Moments, of_elements_apart) {
  const double x[] = {1, 9, 3, 9};
  EXPECT_EQ(moments(x, 2, 2).mean, 2);
  EXPECT_EQ(moments(x, 2, 2).variance, 1);
  EXPECT_EQ(moments(x, 0).mean, 0);
}

TEST(BatchNormalization, each_channel_by_given_statistics) {
  const Tensor x = f32({1, 2, 2}, {1, 3, 10, 20});
  EXPECT_THAT(
      numbers_of("batch_normalization", {x, vec({1, 2}), vec({0, 5}), vec({2, 10}), vec({1, 4})}, {{"epsilon", 0.0}}),
      near({-1, 1, 5, 15}));
  EXPECT_THAT(
      numbers_of("batch_normalization", {vec({1, 3}), vec({1}), vec({0}), vec({2}), vec({4})}, {{"epsilon", 0.0}}),
      near({-0.5, 0.5}));
}

TEST(BatchNormalization, training_uses_the_batch_and_moves_the_running_statistics) {
  const Tensor x = f32({2, 1, 1}, {1, 3});
  const auto y = run_op("batch_normalization_training", {x, vec({1}), vec({0}), vec({10}), vec({20})},
                        {{"epsilon", 0.0}, {"momentum", 0.9}});
  EXPECT_THAT(y[0].numbers(), near({-1, 1}));
  EXPECT_THAT(y[1].numbers(), near({9.2}));
  EXPECT_THAT(y[2].numbers(), near({18.1}, 1e-5));
  EXPECT_THAT(y[3].numbers(), near({2}));
  EXPECT_THAT(y[4].numbers(), near({1}));
}

TEST(BatchNormalization, refuses_other_numbers_of_channels) {
  const Tensor x = f32({1, 2, 1}, {1, 2});
  EXPECT_EQ(refusal("batch_normalization", {x, vec({1}), vec({0}), vec({2}), vec({1})}),
            "dimension 1 of x f32[1, 2, 1] is 2, but dimension 0 of scale f32[1] is 1");
  EXPECT_THAT(refusal("batch_normalization", {vec({1}), vec({1, 2}), vec({0}), vec({2}), vec({1})}),
              HasSubstr("x is a vector and thus one channel"));
}

TEST(GroupNormalization, groups_share_statistics_and_channels_have_scales) {
  const Tensor x = f32({1, 4, 1}, {1, 3, 10, 30});
  const Attrs two{{"num_groups", int64_t{2}}, {"epsilon", 0.0}};
  EXPECT_THAT(numbers_of("group_normalization", {x, vec({1, 2, 3, 4}), vec({0, 0, 0, 1})}, two), near({-1, 2, -3, 5}));
  EXPECT_THAT(numbers_of("group_normalization", {x, vec({1, 2}), vec({0, 1})}, two), near({-1, 1, -1, 3}));
  EXPECT_EQ(refusal("group_normalization", {x, vec({1, 1, 1, 1}), vec({0, 0, 0, 0})}, {{"num_groups", int64_t{3}}}),
            "x f32[1, 4, 1] cannot have its channels in 3 groups");
  EXPECT_EQ(refusal("group_normalization", {x, vec({1, 1, 1, 1}), vec({0, 0, 0, 0})}, {{"num_groups", int64_t{0}}}),
            "x f32[1, 4, 1] cannot have its channels in 0 groups");
}

TEST(InstanceNormalization, each_channel_of_each_sample) {
  const Tensor x = f32({2, 1, 2}, {1, 3, 10, 30});
  EXPECT_THAT(numbers_of("instance_normalization", {x, vec({2}), vec({1})}, {{"epsilon", 0.0}}), near({-1, 3, -1, 3}));
  EXPECT_THAT(refusal("instance_normalization", {x, vec({1, 2}), vec({1})}), HasSubstr("dimension 1 of x"));
}

TEST(LayerNormalization, over_the_last_dimensions_with_a_scale_that_broadcasts) {
  const Tensor x = f32({2, 1, 2}, {1, 3, 10, 30});
  const Attrs exact{{"epsilon", 0.0}};
  EXPECT_THAT(numbers_of("layer_normalization", {x, vec({1, 2}), vec({0, 1})}, exact), near({-1, 3, -1, 3}));
  EXPECT_THAT(numbers_of("layer_normalization", {x, vec({2})}, {{"epsilon", 0.0}, {"axis", int64_t{1}}}),
              near({-2, 2, -2, 2}));
}

TEST(LayerNormalization, statistics_are_results_if_wanted) {
  const Tensor x = Tensor::of(DType::f16, {2, 2}, {1, 3, 10, 30});
  const Tensor scale = Tensor::of(DType::f16, {2}, {1, 1});
  EXPECT_EQ(run_op("layer_normalization", {x, scale}).size(), 1u);
  const auto y = run_op("layer_normalization", {x, scale}, {{"epsilon", 0.0}, {"statistics", true}});
  ASSERT_EQ(y.size(), 3u);
  EXPECT_EQ(y[0].dtype, DType::f16);
  EXPECT_EQ(y[1].dtype, DType::f32);
  EXPECT_EQ(y[1].sizes, (Ints{2, 1}));
  EXPECT_THAT(y[1].numbers(), near({2, 20}));
  EXPECT_THAT(y[2].numbers(), near({1, 0.1}));
}

TEST(LayerNormalization, refuses_what_does_not_fit) {
  const Tensor x = f32({2, 2}, {1, 3, 10, 30});
  EXPECT_EQ(refusal("layer_normalization", {x, vec({1, 2, 3})}), "scale f32[3] does not broadcast to x f32[2, 2]");
  EXPECT_EQ(refusal("layer_normalization", {x, vec({1})}, {{"axis", int64_t{2}}}), "x f32[2, 2] has no dimension 2");
  EXPECT_EQ(refusal("layer_normalization", {x, vec({1})}, {{"stash_type", int64_t{7}}, {"statistics", true}}),
            "stash_type is 7 and should be 1, 10, 11 or 16");
}

TEST(RmsNormalization, has_the_type_of_its_scale) {
  const Tensor x = Tensor::of(DType::f16, {1, 2}, {3, 4});
  const auto y = run_op("rms_normalization", {x, vec({1, 2})}, {{"epsilon", 0.0}, {"statistics", true}});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(y[0].dtype, DType::f32);
  const double root = std::sqrt(12.5);
  EXPECT_THAT(y[0].numbers(), near({3 / root, 8 / root}));
  EXPECT_THAT(y[1].numbers(), near({1 / root}));
}

TEST(Lrn, divides_by_neighbouring_channels) {
  const Tensor x = f32({1, 3, 1}, {1, 2, 3});
  const Attrs attrs{{"size", int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}};
  EXPECT_THAT(numbers_of("lrn", {x}, attrs), near({1.0 / 6, 2.0 / 15, 3.0 / 14}));
  const Attrs two{{"size", int64_t{2}}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}};
  EXPECT_THAT(numbers_of("lrn", {x}, two), near({1.0 / 6, 2.0 / 14, 3.0 / 10}));
  EXPECT_EQ(refusal("lrn", {x}, {{"size", int64_t{0}}}), "size is 0 and should be positive");
}

TEST(MeanVarianceNormalization, over_some_dimensions) {
  const Tensor x = f32({2, 2}, {1, 10, 3, 30});
  EXPECT_THAT(numbers_of("mean_variance_normalization", {x}, {{"axes", Ints{0}}}), near({-1, -1, 1, 1}));
  EXPECT_THAT(refusal("mean_variance_normalization", {x}), HasSubstr("axis 2 is given"));
}

TEST(Dropout, changes_nothing_outside_of_training) {
  const auto y = run_op("dropout", {vec({1, 2}), f32({}, {0.5})});
  EXPECT_THAT(y[0].numbers(), ElementsAre(1, 2));
  EXPECT_EQ(y[1].dtype, DType::boolean);
  EXPECT_THAT(y[1].numbers(), ElementsAre(1, 1));
}

TEST(Dropout, drops_a_share_and_scales_the_rest) {
  const Tensor yes = Tensor::of(DType::boolean, {}, {1});
  const Tensor x = vec(std::vector<double>(1000, 3));
  const Attrs seed{{"seed", Ints{7}}};
  const auto y = run_op("dropout", {x, f32({}, {0.25}), yes}, seed);
  EXPECT_EQ(y[0].numbers(), run_op("dropout", {x, f32({}, {0.25}), yes}, seed)[0].numbers());
  EXPECT_THAT(y[0].numbers(), Each(testing::AnyOf(0, 4)));
  double kept = 0;
  for (double m : y[1].numbers()) kept += m;
  EXPECT_NEAR(kept, 750, 60);
  EXPECT_THAT(numbers_of("dropout", {vec({1, 2}), f32({}, {0}), yes}), ElementsAre(1, 2));
  EXPECT_EQ(refusal("dropout", {x, f32({}, {1}), yes}), "the ratio is 1 and should be at least 0 and less than 1");
}

}  // namespace
}  // namespace nereid::ops
