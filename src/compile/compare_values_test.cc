// SPDX-License-Identifier: Apache-2.0
#include "compile/compare_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace nereid::compile {
namespace {

using ops::Datum;
using ops::Tensor;
using testing::HasSubstr;

const double kNaN = std::nan("");
const double kInfinity = HUGE_VAL;

Datum f32(const std::vector<double>& values) {
  return Tensor::of(DType::f32, {static_cast<int64_t>(values.size())}, values);
}
Datum of(DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(dtype, std::move(sizes), values);
}

TEST(CompareValues, an_error_is_seen_against_the_range_of_what_is_expected) {
  const ValueDifference d = compare_values(f32({-1, 0.5, 3}), f32({-1, 0, 3}));
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.range, 4);
  EXPECT_EQ(d.relative(), 0.125);
  EXPECT_NEAR(d.mean_abs, 0.5 / 3, 1e-12);
  EXPECT_TRUE(is_within(d, {.relative = 0.125, .absolute = 0}));
  EXPECT_FALSE(is_within(d, {.relative = 0.124, .absolute = 0}));
}

TEST(CompareValues, equal_values_have_their_magnitude_for_a_range) {
  const ValueDifference d = compare_values(f32({-8, -8}), f32({-8, -8.5}));
  EXPECT_EQ(compare_values(f32({-8, -9}), f32({-8, -8})).range, 8);
  EXPECT_EQ(d.range, 0.5);
  EXPECT_EQ(compare_values(f32({0.25}), f32({0})).relative(), kInfinity);
}

TEST(CompareValues, nan_and_infinity_are_right_where_both_sides_have_them) {
  const ValueDifference same = compare_values(f32({kNaN, kInfinity, 1}), f32({kNaN, kInfinity, 1}));
  EXPECT_TRUE(is_within(same, {}));
  const ValueDifference differs = compare_values(f32({kNaN, -kInfinity, 1}), f32({0, kInfinity, kNaN}));
  EXPECT_EQ(differs.nans, 2);
  EXPECT_EQ(differs.infinities, 1);
  EXPECT_FALSE(is_within(differs, {.relative = 1e9, .absolute = 1e9}));
}

TEST(CompareValues, integers_are_right_or_wrong_and_codes_may_be_one_step_off) {
  EXPECT_EQ(compare_values(of(DType::i64, {2}, {1, 7}), of(DType::i64, {2}, {1, 8})).unequal, 1);
  EXPECT_FALSE(is_within(compare_values(of(DType::i64, {1}, {7}), of(DType::i64, {1}, {8})), {.relative = 1}));
  EXPECT_TRUE(is_within(compare_values(of(DType::u8, {1}, {7}), of(DType::u8, {1}, {8})), {}));
  EXPECT_FALSE(is_within(compare_values(of(DType::u8, {1}, {7}), of(DType::u8, {1}, {9})), {}));
  EXPECT_FALSE(is_within(compare_values(of(DType::boolean, {1}, {0}), of(DType::boolean, {1}, {1})), {}));
}

TEST(CompareValues, other_types_and_sizes_are_said) {
  EXPECT_THAT(compare_values(of(DType::f16, {1}, {0}), f32({0})).mismatch, HasSubstr("f16 and should be f32"));
  EXPECT_THAT(compare_values(f32({0, 1}), f32({0})).mismatch, HasSubstr("[2] and should be [1]"));
  EXPECT_THAT(compare_values(Datum::none(DType::f32), f32({0})).mismatch, HasSubstr("should be f32[1]"));
  EXPECT_FALSE(is_within(compare_values(f32({0, 1}), f32({0})), {.relative = 1e9, .absolute = 1e9}));
}

TEST(CompareValues, images_may_lie_channels_last) {
  // [1, 2, 1, 3] and the same as [1, 1, 3, 2].
  const Datum first = of(DType::f32, {1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Datum last = of(DType::f32, {1, 1, 3, 2}, {1, 4, 2, 5, 3, 6});
  const ValueDifference d = compare_values(last, first);
  EXPECT_TRUE(d.channels_last);
  EXPECT_EQ(d.max_abs, 0);
  // Sizes that fit both ways: the order that fits better.
  const Datum square = of(DType::f32, {1, 2, 2}, {1, 2, 3, 4}), turned = of(DType::f32, {1, 2, 2}, {1, 3, 2, 4});
  EXPECT_EQ(compare_values(turned, square).max_abs, 0);
  EXPECT_FALSE(compare_values(square, square).channels_last);
}

TEST(CompareValues, items_of_a_sequence_count_together) {
  const Datum found = Datum::sequence(DType::f32, {f32({1, 2}), f32({3})});
  const Datum expected = Datum::sequence(DType::f32, {f32({1, 4}), f32({3})});
  const ValueDifference d = compare_values(found, expected);
  EXPECT_EQ(d.max_abs, 2);
  EXPECT_EQ(d.elements, 3);
  EXPECT_NE(compare_values(Datum::sequence(DType::f32, {}), expected).mismatch, "");
}

}  // namespace
}  // namespace nereid::compile
