// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(Binary, equal_shapes_combine_element_by_element) {
  const Tensor a = f32({2, 2}, {1, 2, 3, 4});
  const Tensor b = f32({2, 2}, {10, 20, 30, 40});
  EXPECT_THAT(numbers_of("add", {a, b}), near({11, 22, 33, 44}, 0));
  EXPECT_THAT(numbers_of("sub", {a, b}), near({-9, -18, -27, -36}, 0));
  EXPECT_THAT(numbers_of("mul", {a, b}), near({10, 40, 90, 160}, 0));
  EXPECT_THAT(numbers_of("div", {b, a}), near({10, 10, 10, 10}, 0));
}

TEST(Binary, a_row_a_column_and_a_scalar_are_repeated) {
  const Tensor column = f32({2, 1}, {1, 2});
  const Tensor row = f32({3}, {10, 20, 30});
  EXPECT_THAT(numbers_of("add", {column, row}), near({11, 21, 31, 12, 22, 32}, 0));
  EXPECT_THAT(numbers_of("mul", {row, f32({}, {2})}), near({20, 40, 60}, 0));
  EXPECT_THAT(numbers_of("sub", {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2, 1}, {1, 10})}),
              near({0, 1, -9, -8, 2, 3, -7, -6}, 0));
}

TEST(Binary, integers_wrap_and_division_rounds_towards_zero) {
  EXPECT_THAT(numbers_of("div", {i32({2}, {7, -7}), i32({1}, {2})}), near({3, -3}, 0));
  EXPECT_EQ(refusal("div", {i32({1}, {7}), i32({1}, {0})}), "the integer 7 is divided by 0");
}

TEST(Binary, shapes_that_do_not_broadcast_are_both_named) {
  EXPECT_EQ(refusal("add", {f32({2}, {1, 2}), f32({3}, {1, 2, 3})}), "a f32[2] and b f32[3] do not broadcast");
  EXPECT_EQ(refusal("add", {f32({1}, {1}), i32({1}, {1})}), "a f32[1] and b i32[1] should have one element type");
}

TEST(Binary, a_symbol_agrees_with_itself_and_takes_the_place_of_one) {
  const TensorType tokens{DType::f32, {symbol("tokens"), 8}};
  const TensorType row{DType::f32, {1, 8}};
  EXPECT_EQ((*infer_types("add", {tokens, tokens}))[0], tokens);
  EXPECT_EQ((*infer_types("add", {row, tokens}))[0], tokens);
}

}  // namespace
}  // namespace nereid::ops
