// SPDX-License-Identifier: Apache-2.0
// The ops that only move elements: select_rows, split, concat, cast, reshape, transpose.
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using Ints = std::vector<int64_t>;

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(SelectRows, rows_come_in_the_order_asked_for) {
  EXPECT_THAT(numbers_of("select_rows", {kX, i32({3}, {1, 1, 0})}), near({4, 5, 6, 4, 5, 6, 1, 2, 3}, 0));
}

TEST(SelectRows, a_row_outside_is_named) {
  EXPECT_EQ(refusal("select_rows", {kX, i32({1}, {2})}), "rows[0] is 2, but x has 2 rows");
}

TEST(Split, parts_are_consecutive_columns) {
  const auto parts = run_op("split", {kX}, {{"sizes", Ints{1, 2}}});
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(parts[0].numbers(), near({1, 4}, 0));
  EXPECT_THAT(parts[1].numbers(), near({2, 3, 5, 6}, 0));
}

TEST(Split, sizes_must_add_up) {
  EXPECT_EQ(refusal("split", {kX}, {{"sizes", Ints{1, 1}}}),
            "dimension 1 of x f32[2, 3] should be 2 (the sum of sizes)");
  EXPECT_EQ(refusal("split", {kX}, {{"sizes", Ints{}}}), "sizes is empty and should name at least one part");
  EXPECT_EQ(refusal("split", {kX}, {{"sizes", Ints{-1, 4}}}), "sizes holds -1, which is no size");
}

TEST(Concat, tensors_are_joined_along_either_axis) {
  const Tensor a = f32({2, 1}, {7, 8});
  EXPECT_THAT(numbers_of("concat", {kX, a}, {{"axis", int64_t{1}}}), near({1, 2, 3, 7, 4, 5, 6, 8}, 0));
  EXPECT_THAT(numbers_of("concat", {kX, kX}, {{"axis", int64_t{-2}}}), near({1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, 0));
}

TEST(Concat, the_other_sizes_must_agree) {
  EXPECT_EQ(refusal("concat", {kX, f32({1, 1}, {1})}, {{"axis", int64_t{1}}}),
            "dimension 0 of x[0] f32[2, 3] is 2, but dimension 0 of x[1] f32[1, 1] is 1");
}

TEST(Cast, numbers_keep_their_value_where_the_type_has_it) {
  const Tensor half = run_op("cast", {f32({2}, {1.5, 65536})}, {{"dtype", "f16"}})[0];
  EXPECT_EQ(half.dtype, DType::f16);
  EXPECT_EQ(half.numbers()[0], 1.5);
  EXPECT_EQ(half.numbers()[1], std::numeric_limits<double>::infinity());
  EXPECT_THAT(numbers_of("cast", {f32({3}, {1.9, -1.9, 300})}, {{"dtype", "i8"}}), near({1, -1, 127}, 0));
  EXPECT_THAT(numbers_of("cast", {i32({1}, {3})}, {{"dtype", "f32"}}), near({3}, 0));
  EXPECT_THAT(numbers_of("cast", {f32({2}, {-4, 1e30})}, {{"dtype", "i64"}}), near({-4, 9223372036854775807.0}, 0));
}

TEST(Cast, an_unknown_type_is_refused) {
  EXPECT_EQ(refusal("cast", {kX}, {{"dtype", "f31"}}), "there is no element type 'f31'");
  EXPECT_EQ(refusal("cast", {kX}, {{"dtype", "q4_0"}}), "a cast to q4_0 is not known");
}

TEST(Reshape, elements_keep_their_order) {
  const Tensor y = run_op("reshape", {kX}, {{"shape", Ints{3, -1}}})[0];
  EXPECT_EQ(y.sizes, (Ints{3, 2}));
  EXPECT_THAT(y.numbers(), near({1, 2, 3, 4, 5, 6}, 0));
}

TEST(Reshape, symbols_are_carried_through_and_back) {
  const TensorType x{DType::f32, {symbol("tokens"), 576}};
  EXPECT_EQ((*infer_types("reshape", {x}, {{"shape", Ints{0, 9, 64}}}))[0].to_string(), "f32[tokens, 9, 64]");
  EXPECT_EQ((*infer_types("reshape", {x}, {{"shape", Ints{-1, 9, 64}}}))[0].to_string(), "f32[tokens, 9, 64]");
  const TensorType heads = (*infer_types("reshape", {x}, {{"shape", Ints{-1, 64}}}))[0];
  EXPECT_EQ(heads.to_string(), "f32[tokens*9, 64]");
  EXPECT_EQ((*infer_types("reshape", {heads}, {{"shape", Ints{-1, 576}}}))[0].to_string(), "f32[tokens, 576]");
}

TEST(Reshape, a_shape_with_other_elements_is_refused) {
  EXPECT_EQ(refusal("reshape", {kX}, {{"shape", Ints{4, 2}}}),
            "x f32[2, 3] has not as many elements as the shape [4, 2]");
  EXPECT_EQ(refusal("reshape", {kX}, {{"shape", Ints{-1, 4}}}),
            "x f32[2, 3] cannot take the shape [1, 4]: 6 elements cannot be divided by 4");
  EXPECT_EQ(refusal("reshape", {kX}, {{"shape", Ints{-1, -1}}}), "shape has -1 in places 0 and 1; it may stand once");
}

TEST(Transpose, dimensions_change_places) {
  EXPECT_THAT(numbers_of("transpose", {kX}, {{"permutation", Ints{1, 0}}}), near({1, 4, 2, 5, 3, 6}, 0));
  const Tensor y = run_op("transpose", {f32({1, 2, 3}, {1, 2, 3, 4, 5, 6})}, {{"permutation", Ints{2, 0, 1}}})[0];
  EXPECT_EQ(y.sizes, (Ints{3, 1, 2}));
  EXPECT_THAT(y.numbers(), near({1, 4, 2, 5, 3, 6}, 0));
}

TEST(Transpose, every_dimension_must_be_named_once) {
  EXPECT_EQ(refusal("transpose", {kX}, {{"permutation", Ints{1, 1}}}),
            "permutation should hold each of 0 to 1 once, but has 1 out of place");
  EXPECT_EQ(refusal("transpose", {kX}, {{"permutation", Ints{0}}}), "x f32[2, 3] should have 1 dimension");
}

}  // namespace
}  // namespace nereid::ops
