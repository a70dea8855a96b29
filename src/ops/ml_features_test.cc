// SPDX-License-Identifier: Apache-2.0
// Features of classical pipelines: label_encoder, binarizer, feature_vectorizer, imputer, normalizer, one_hot_encoder,
// scaler.
#include <limits>

#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const Tensor kX = f32({2, 2}, {1, -2, 0, 0});

TEST(LabelEncoder, a_table_is_looked_up) {
  const Tensor keys = texts({3}, {"a", "b", "a"});
  EXPECT_EQ(values_of(run_op("label_encoder", {texts({3}, {"b", "a", "c"}), keys, ints({1, 2, 3}), ints({-1})})[0]),
            (Numbers{2, 3, -1}));
  EXPECT_EQ(run_op("label_encoder", {f32({2}, {kNan, 1}), f32({1}, {kNan}), texts({1}, {"nan"}), texts({1}, {"?"})})[0]
                .strings,
            (std::vector<std::string>{"nan", "?"}));
  EXPECT_EQ(refusal("label_encoder", {ints({1}), keys, ints({1, 2, 3}), ints({-1})}),
            "x i64[1] should hold elements like those of keys string[3]");
  EXPECT_EQ(refusal("label_encoder", {ints({1}), ints({1}), ints({1, 2}), ints({-1})}),
            "dimension 0 of keys i64[1] is 1, but dimension 0 of values i64[2] is 2");
  EXPECT_EQ(refusal("label_encoder", {ints({1}), ints({1}), ints({1}), f32({1}, {0})}),
            "default f32[1] should be one i64");
}

TEST(Binarizer, what_is_greater_is_1) {
  EXPECT_THAT(numbers_of("binarizer", {f32({3}, {0.5, 1, 2})}, {{"threshold", 1.0}}), near({0, 0, 1}, 0));
}

TEST(FeatureVectorizer, features_stand_side_by_side) {
  EXPECT_THAT(numbers_of("feature_vectorizer", {kX, i64({2, 1}, {7, 8})}, {{"inputdimensions", Ints{2, 1}}}),
              near({1, -2, 7, 0, 0, 8}, 0));
  EXPECT_THAT(numbers_of("feature_vectorizer", {kX, i64({2, 1}, {7, 8})}, {{"inputdimensions", Ints{1, 2}}}),
              near({1, 7, 0, 0, 8, 0}, 0));
  EXPECT_EQ(refusal("feature_vectorizer", {kX, ints({7})}), "x[1] i64[1] should have 2 rows like the others");
  EXPECT_EQ(refusal("feature_vectorizer", {kX}, {{"inputdimensions", Ints{-1}}}),
            "inputdimensions holds -1, which is no size");
}

TEST(Imputer, one_value_is_replaced) {
  EXPECT_THAT(numbers_of("imputer", {f32({2, 2}, {kNan, 1, 2, kNan})},
                         {{"imputed_value_floats", Numbers{8, 9}}, {"replaced_value_float", kNan}}),
              near({8, 1, 2, 9}, 0));
  EXPECT_EQ(values_of(run_op("imputer", {ints({0, 5})}, {{"imputed_value_int64s", Ints{7}}})[0]), (Numbers{7, 5}));
  EXPECT_EQ(refusal("imputer", {kX}, {{"imputed_value_floats", Numbers{1, 2, 3}}}),
            "imputed_value_floats has 3 entries, but x f32[2, 2] should have one a feature or one for all");
  EXPECT_EQ(refusal("imputer", {kX}),
            "imputed_value_floats has 0 entries, but x f32[2, 2] should have one a feature or one for all");
}

TEST(Normalizer, rows_are_divided_by_their_norm) {
  const Tensor x = f32({2, 2}, {3, -4, 0, 0});
  EXPECT_THAT(numbers_of("normalizer", {x}), near({1, -4.0 / 3, 0, 0}));
  EXPECT_THAT(numbers_of("normalizer", {x}, {{"norm", "L1"}}), near({3.0 / 7, -4.0 / 7, 0, 0}));
  EXPECT_THAT(numbers_of("normalizer", {x}, {{"norm", "L2"}}), near({0.6, -0.8, 0, 0}));
  EXPECT_EQ(refusal("normalizer", {x}, {{"norm", "L3"}}), "norm is 'L3' and should be MAX, L1 or L2");
}

TEST(OneHotEncoder, categories_become_places) {
  EXPECT_THAT(numbers_of("one_hot_encoder", {ints({4, 5})}, {{"cats_int64s", Ints{2, 4}}}), near({0, 1, 0, 0}, 0));
  EXPECT_EQ(refusal("one_hot_encoder", {ints({5})}, {{"cats_int64s", Ints{2, 4}}, {"zeros", false}}),
            "x[0] is 5, which is in no category");
  EXPECT_EQ(refusal("one_hot_encoder", {ints({5})}), "x i64[1] should come with cats_int64s");
}

TEST(Scaler, offset_then_scale) {
  EXPECT_THAT(numbers_of("scaler", {kX}, {{"offset", Numbers{1}}, {"scale", Numbers{2, 3}}}), near({0, -9, -2, -3}));
  EXPECT_EQ(refusal("scaler", {kX}, {{"offset", Numbers{1, 2, 3}}}),
            "offset has 3 entries, but x f32[2, 2] should have one a feature or one for all");
}

}  // namespace
}  // namespace nereid::ops
