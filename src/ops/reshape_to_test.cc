// SPDX-License-Identifier: Apache-2.0
// The ops about sizes: reshape_to, flatten, squeeze, unsqueeze, shape, size, expand, tile, constant_of_shape, range.
#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});
const TensorType kBatch{DType::f32, {symbol("batch"), 6}};
const TensorType kList2{DType::i64, {2}};

std::string type_of(std::string_view op, const std::vector<TensorType>& types, const std::vector<const Tensor*>& values,
                    Attrs attrs = {}) {
  auto found = infer_known(op, types, values, std::move(attrs));
  return found ? (*found)[0].to_string() : found.status().message();
}

TEST(ReshapeTo, the_shape_is_data) {
  const Tensor y = run_op("reshape_to", {kX, ints({-1, 2})})[0];
  EXPECT_EQ(y.sizes, (Ints{3, 2}));
  EXPECT_THAT(y.numbers(), near({1, 2, 3, 4, 5, 6}, 0));
  EXPECT_EQ(run_op("reshape_to", {kX, ints({0, 1, 3})})[0].sizes, (Ints{2, 1, 3}));
  EXPECT_EQ(run_op("reshape_to", {f32({0, 4}, {}), ints({0, -1})})[0].sizes, (Ints{0, 4}));
  EXPECT_EQ(run_op("reshape_to", {f32({0, 4}, {}), ints({4, 0})}, {{"allowzero", true}})[0].sizes, (Ints{4, 0}));
}

TEST(ReshapeTo, elements_of_any_type_keep_their_order) {
  for (DType d : number_types())
    EXPECT_EQ(values_of(run_op("reshape_to", {numbers(d, {2, 3}, {0, 1, 0, 1, 1, 0}), ints({3, 2})})[0]),
              (Numbers{0, 1, 0, 1, 1, 0}))
        << dtype_name(d);
  EXPECT_EQ(run_op("reshape_to", {texts({2}, {"a", "b"}), ints({1, 2})})[0].strings,
            (std::vector<std::string>{"a", "b"}));
}

TEST(ReshapeTo, symbols_are_carried_where_the_shape_is_known) {
  const Tensor shape = ints({-1, 3});
  EXPECT_EQ(type_of("reshape_to", {kBatch, kList2}, {nullptr, &shape}), "f32[batch*2, 3]");
  const Tensor odd = ints({-1, 4});
  EXPECT_EQ(type_of("reshape_to", {kBatch, kList2}, {nullptr, &odd}), "f32[?, 4]");
  const Tensor copied = ints({0, -1});
  EXPECT_EQ(type_of("reshape_to", {kBatch, kList2}, {nullptr, &copied}), "f32[batch, 6]");
  EXPECT_EQ(type_of("reshape_to", {kBatch, kList2}, {}), "f32[?, ?]");
  EXPECT_EQ(type_of("reshape_to", {kBatch, {DType::i64, {symbol("n")}}}, {}), "f32[...]");
  EXPECT_EQ(type_of("reshape_to", {{DType::f32, Shape::unranked()}, kList2}, {nullptr, &shape}), "f32[?, 3]");
  EXPECT_EQ(type_of("reshape_to", {{DType::f32, Shape::unranked()}, kList2}, {}), "f32[?, ?]");
}

TEST(ReshapeTo, what_cannot_be_is_refused) {
  EXPECT_EQ(refusal("reshape_to", {kX, ints({4, 2})}), "x f32[2, 3] has not as many elements as the shape [4, 2]");
  EXPECT_EQ(refusal("reshape_to", {kX, ints({-1, 4})}),
            "x f32[2, 3] cannot take the shape [-1, 4]: 6 elements cannot be divided by 4");
  EXPECT_EQ(refusal("reshape_to", {kX, ints({-1, -1})}), "shape has -1 in places 0 and 1; it may stand once");
  EXPECT_EQ(refusal("reshape_to", {kX, ints({-2, 3})}), "shape[0] is -2, which is no size");
  EXPECT_EQ(refusal("reshape_to", {kX, ints({2, 3, 0})}), "shape[2] is 0, but x f32[2, 3] has no such dimension");
  EXPECT_EQ(refusal("reshape_to", {f32({0}, {}), ints({0, -1})}, {{"allowzero", true}}),
            "shape has both 0 and -1, so the size for -1 is undefined");
  EXPECT_EQ(refusal("reshape_to", {kX, f32({1}, {6})}), "shape f32[1] should be i32 or i64");
  EXPECT_EQ(refusal("reshape_to", {kX, ints({4e18, 4e18})}), "x f32[2, 3] or its new shape has too many elements");
}

TEST(Flatten, dimensions_become_rows_and_columns) {
  const Tensor x = f32({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_op("flatten", {x})[0].sizes, (Ints{2, 3}));
  EXPECT_EQ(run_op("flatten", {x}, {{"axis", int64_t{0}}})[0].sizes, (Ints{1, 6}));
  EXPECT_EQ(run_op("flatten", {x}, {{"axis", int64_t{3}}})[0].sizes, (Ints{6, 1}));
  EXPECT_EQ(run_op("flatten", {x}, {{"axis", int64_t{-1}}})[0].sizes, (Ints{2, 3}));
  EXPECT_EQ(refusal("flatten", {x}, {{"axis", int64_t{4}}}), "axis is 4, but x f32[2, 1, 3] has 3 dimensions");
  EXPECT_EQ(type_of("flatten", {{DType::f32, {symbol("n"), 3, 4}}}, {}), "f32[n, 12]");
}

TEST(Squeeze, dimensions_of_size_1_go_and_come) {
  const Tensor x = f32({1, 3, 1}, {1, 2, 3});
  EXPECT_EQ(run_op("squeeze", {x})[0].sizes, (Ints{3}));
  EXPECT_EQ(run_op("squeeze", {x, ints({-1})})[0].sizes, (Ints{1, 3}));
  EXPECT_EQ(run_op("unsqueeze", {kX, ints({3, 0, -3})})[0].sizes, (Ints{1, 2, 1, 1, 3}));
  EXPECT_EQ(refusal("squeeze", {x, ints({1})}), "dimension 1 of x f32[1, 3, 1] should be 1 to be taken away");
  EXPECT_EQ(refusal("squeeze", {x, ints({3})}), "axes holds 3, but there are 3 dimensions");
  EXPECT_EQ(refusal("unsqueeze", {kX, ints({0, 0})}), "axes holds dimension 0 twice");
  EXPECT_EQ(refusal("unsqueeze", {kX, i64({300}, Numbers(300, 0))}),
            "a result of 300 dimensions is asked for; tensors have at most 256");
  EXPECT_EQ(type_of("squeeze", {kBatch}, {}), "f32[...]");
  EXPECT_EQ(type_of("unsqueeze", {kBatch, kList2}, {}), "f32[?, ?, ?, ?]");
}

TEST(ShapeAndSize, tell_sizes) {
  EXPECT_EQ(values_of(run_op("shape", {kX})[0]), (Numbers{2, 3}));
  EXPECT_EQ(values_of(run_op("shape", {kX}, {{"start", int64_t{-1}}})[0]), (Numbers{3}));
  EXPECT_EQ(values_of(run_op("shape", {kX}, {{"start", int64_t{1}}, {"end", int64_t{-5}}})[0]), Numbers());
  EXPECT_EQ(values_of(run_op("size", {kX})[0]), (Numbers{6}));
  EXPECT_EQ(type_of("shape", {{DType::f32, Shape::unranked()}}, {}), "i64[?]");
  EXPECT_EQ(type_of("shape", {{DType::f32, Shape::unranked(), Container::kSequence}}, {}),
            "x sequence f32[...] should be a tensor");
}

TEST(Expand, both_sides_broadcast) {
  EXPECT_THAT(numbers_of("expand", {f32({3}, {1, 2, 3}), ints({2, 1})}), near({1, 2, 3, 1, 2, 3}, 0));
  EXPECT_THAT(numbers_of("expand", {f32({2, 1}, {1, 2}), ints({2})}), near({1, 1, 2, 2}, 0));
  EXPECT_EQ(run_op("expand", {texts({1}, {"a"}), ints({2})})[0].strings, (std::vector<std::string>{"a", "a"}));
  EXPECT_EQ(run_op("expand", {f32({1}, {1}), ints({0})})[0].sizes, (Ints{0}));
  EXPECT_EQ(refusal("expand", {kX, ints({4, 3})}), "x f32[2, 3] does not broadcast to the shape [4, 3]");
  EXPECT_EQ(refusal("expand", {kX, ints({-1, 3})}), "shape[0] is -1, which is no size");
}

TEST(Tile, symbols_are_multiplied) {
  const Tensor repeats = ints({3, 1});
  EXPECT_EQ(type_of("tile", {kBatch, kList2}, {nullptr, &repeats}), "f32[batch*3, 6]");
}

TEST(Tile, each_dimension_is_repeated) {
  EXPECT_THAT(numbers_of("tile", {f32({1, 2}, {1, 2}), ints({2, 2})}), near({1, 2, 1, 2, 1, 2, 1, 2}, 0));
  EXPECT_EQ(values_of(run_op("tile", {numbers(DType::u4, {3}, {1, 2, 3}), ints({2})})[0]), (Numbers{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(run_op("tile", {kX, ints({0, 1e17})})[0].sizes[0], 0);
  EXPECT_EQ(refusal("tile", {kX, ints({1, -1})}), "repeats[1] is -1 and should not be negative");
  EXPECT_EQ(refusal("tile", {kX, ints({2})}),
            "dimension 0 of repeats i64[1] should be 2 (one number a dimension of x)");
  EXPECT_EQ(refusal("tile", {kX, ints({1, 9e18})}),
            "dimension 1 of the result: 3 times 9000000000000000000 does not fit 63 bits");
}

TEST(ConstantOfShape, one_value_everywhere) {
  EXPECT_EQ(values_of(run_op("constant_of_shape", {ints({2, 2}), numbers(DType::i4, {1}, {-3})})[0]),
            (Numbers{-3, -3, -3, -3}));
  EXPECT_EQ(run_op("constant_of_shape", {ints({}), f32({}, {7})})[0].sizes, Ints());
  EXPECT_EQ(refusal("constant_of_shape", {ints({-2}), f32({1}, {7})}), "shape[0] is -2, which is no size");
  EXPECT_EQ(refusal("constant_of_shape", {ints({1}), f32({2}, {7, 8})}), "value f32[2] should be one value");
  EXPECT_EQ(refusal("constant_of_shape", {ints({1e6, 1e6, 1e6}), f32({1}, {7})}),
            "a tensor f32[1000000, 1000000, 1000000] is larger than 64 GiB");
}

TEST(EyeLike, ones_stand_on_one_diagonal) {
  EXPECT_EQ(values_of(run_op("eye_like", {kX}, {{"k", int64_t{1}}, {"dtype", "i64"}})[0]), (Numbers{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(values_of(run_op("eye_like", {kX}, {{"k", int64_t{-1}}})[0]), (Numbers{0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(values_of(run_op("eye_like", {kX}, {{"k", INT64_MIN}})[0]), (Numbers{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(refusal("eye_like", {kX}, {{"dtype", "f31"}}), "there is no element type 'f31'");
}

TEST(Range, steps_up_and_down) {
  EXPECT_EQ(values_of(run_op("range", {f32({}, {1}), f32({}, {2}), f32({}, {0.5})})[0]), (Numbers{1, 1.5}));
  EXPECT_EQ(values_of(run_op("range", {i64({}, {10}), i64({}, {4}), i64({}, {-3})})[0]), (Numbers{10, 7}));
  EXPECT_EQ(values_of(run_op("range", {i64({}, {1}), i64({}, {1}), i64({}, {1})})[0]), Numbers());
  EXPECT_EQ(refusal("range", {i64({}, {1}), i64({}, {2}), i64({}, {0})}),
            "from 1 to 2 by steps of 0 is not a finite number of steps");
  EXPECT_EQ(refusal("range", {f32({}, {1}), f32({}, {2}), f32({}, {0})}),
            "from 1 to 2 by steps of 0 is not a finite number of steps");
  EXPECT_EQ(refusal("range", {i64({}, {1}), f32({}, {2}), i64({}, {1})}),
            "start i64[] and limit f32[] should have one element type");
  EXPECT_EQ(type_of("range", {{DType::i64, {}}, {DType::i64, {}}, {DType::i64, {}}}, {}), "i64[?]");
}

}  // namespace
}  // namespace nereid::ops
