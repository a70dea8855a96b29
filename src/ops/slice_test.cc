// SPDX-License-Identifier: Apache-2.0
// The ops that cut, pad and rearrange: slice, split_along, concat, transpose, pad, center_crop_pad, trilu,
// depth_to_space, space_to_depth, reverse_sequence.
#include <limits>

#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kRow = f32({5}, {0, 1, 2, 3, 4});
constexpr double kMost = 9.2e18;

Tensor slice_row(const Numbers& start, const Numbers& end, const Numbers& step) {
  return run_op("slice", {kRow, ints(start), ints(end), ints({0}), ints(step)})[0];
}

TEST(Slice, starts_ends_and_steps_are_those_of_python) {
  EXPECT_THAT(slice_row({1}, {-1}, {1}).numbers(), near({1, 2, 3}, 0));
  EXPECT_THAT(slice_row({-100}, {100}, {2}).numbers(), near({0, 2, 4}, 0));
  EXPECT_THAT(slice_row({kMost}, {-kMost}, {-2}).numbers(), near({4, 2, 0}, 0));
  EXPECT_THAT(slice_row({3}, {0}, {-1}).numbers(), near({3, 2, 1}, 0));
  EXPECT_EQ(slice_row({3}, {1}, {1}).sizes, (Ints{0}));
  EXPECT_THAT(slice_row({1}, {5}, {kMost}).numbers(), near({1}, 0));
  EXPECT_THAT(slice_row({-1}, {-kMost}, {-kMost}).numbers(), near({4}, 0));
  EXPECT_THAT(numbers_of("slice", {kX, ints({0, 1}), ints({1, 3})}), near({2, 3}, 0));
  EXPECT_THAT(numbers_of("slice", {kX, ints({1}), ints({3}), ints({-1})}), near({2, 3, 5, 6}, 0));
  EXPECT_EQ(values_of(run_op(
                "slice", {numbers(DType::u2, {5}, {0, 1, 2, 3, 1}), ints({1}), ints({5}), ints({0}), ints({2})})[0]),
            (Numbers{1, 3}));
}

TEST(Slice, sizes_that_depend_on_unknown_values_are_unknown) {
  const TensorType x{DType::f32, {symbol("n"), 8}};
  const TensorType one{DType::i64, {1}};
  const Tensor zero = ints({0});
  const Tensor last = ints({kMost});
  const Tensor two = ints({2});
  const Tensor axis = ints({1});
  const auto type = [&](std::vector<const Tensor*> values) {
    return (*infer_known("slice", {x, one, one, one}, values))[0].to_string();
  };
  EXPECT_EQ(type({nullptr, &zero, &two, &axis}), "f32[n, 2]");
  EXPECT_EQ(type({nullptr, nullptr, &two, &axis}), "f32[n, ?]");
  EXPECT_EQ(type({nullptr, &zero, &last, &zero}), "f32[n, 8]");
  EXPECT_EQ(type({nullptr, &zero, &two, &zero}), "f32[?, 8]");
  EXPECT_EQ(type({nullptr, &zero, &two, nullptr}), "f32[?, ?]");
}

TEST(Slice, refusals) {
  EXPECT_EQ(refusal("slice", {kRow, ints({0}), ints({1}), ints({0}), ints({0})}), "steps[0] is 0 and should not be");
  EXPECT_EQ(refusal("slice", {kRow, ints({0}), ints({1}), ints({1})}), "axes holds 1, but there are 1 dimensions");
  EXPECT_EQ(refusal("slice", {kRow, ints({0, 0}), ints({1, 1})}),
            "starts i64[2] cuts more dimensions than x f32[5] has");
  EXPECT_EQ(refusal("slice", {kRow, ints({0}), ints({1, 1})}),
            "dimension 0 of ends i64[2] is 2, but dimension 0 of starts i64[1] is 1");
}

TEST(SplitAlong, parts_of_given_or_equal_sizes) {
  auto parts = run_op("split_along", {kX, ints({1, 2})}, {{"axis", int64_t{1}}});
  EXPECT_THAT(parts[0].numbers(), near({1, 4}, 0));
  EXPECT_THAT(parts[1].numbers(), near({2, 3, 5, 6}, 0));
  parts = run_op("split_along", {kRow, absent()}, {{"num_outputs", int64_t{3}}});
  EXPECT_THAT(parts[1].numbers(), near({2, 3}, 0));
  EXPECT_THAT(parts[2].numbers(), near({4}, 0));
  EXPECT_EQ(run_op("split_along", {kRow, absent()}, {{"num_outputs", int64_t{7}}})[6].sizes, (Ints{0}));
  EXPECT_EQ(refusal("split_along", {kRow, ints({1, 3})}), "dimension 0 of x f32[5] should be 4 (the sum of sizes)");
  EXPECT_EQ(refusal("split_along", {kRow, ints({6, -1})}), "sizes[1] is -1, which is no size");
  EXPECT_EQ(refusal("split_along", {kRow, absent()}), "0 parts are asked for and should be 1 to 1048576");
}

TEST(SplitAlong, symbols_are_divided_where_they_can_be) {
  const TensorType x{DType::f32, {symbol("n*6")}};
  EXPECT_EQ((*infer_known("split_along", {x}, {}, {{"num_outputs", int64_t{3}}}))[0].to_string(), "f32[n*2]");
  EXPECT_EQ((*infer_known("split_along", {x}, {}, {{"num_outputs", int64_t{4}}}))[0].to_string(), "f32[?]");
}

TEST(Concat, unknown_sizes_add_up_to_an_unknown_size) {
  const TensorType a{DType::f32, {symbol("n"), 3}};
  const TensorType b{DType::f32, {2, symbol("m")}};
  EXPECT_EQ((*infer_types("concat", {a, b}, {{"axis", int64_t{0}}}))[0].to_string(), "f32[?, 3]");
  EXPECT_EQ((*infer_types("concat", {b, b}, {{"axis", int64_t{0}}}))[0].to_string(), "f32[4, m]");
}

TEST(Concat, any_type_is_joined) {
  EXPECT_EQ(run_op("concat", {texts({1}, {"a"}), texts({1}, {"b"})}, {{"axis", int64_t{0}}})[0].strings,
            (std::vector<std::string>{"a", "b"}));
  const Tensor three = numbers(DType::i4, {1, 3}, {-1, 2, -3});
  EXPECT_EQ(values_of(run_op("concat", {three, three}, {{"axis", int64_t{0}}})[0]), (Numbers{-1, 2, -3, -1, 2, -3}));
}

TEST(Transpose, any_type_and_by_default_reversed) {
  for (DType d : number_types())
    EXPECT_EQ(values_of(run_op("transpose", {numbers(d, {2, 3}, {0, 1, 1, 1, 0, 0})})[0]), (Numbers{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(run_op("transpose", {texts({2, 1}, {"a", "b"})})[0].sizes, (Ints{1, 2}));
}

Numbers padded(const char* mode, const Numbers& pads) {
  return values_of(run_op("pad", {f32({3}, {1, 2, 3}), ints(pads)}, {{"mode", mode}})[0]);
}

TEST(Pad, every_mode_fills_and_cuts) {
  EXPECT_EQ(padded("constant", {1, 2}), (Numbers{0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("reflect", {2, 5}), (Numbers{3, 2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(padded("edge", {1, 2}), (Numbers{1, 1, 2, 3, 3, 3}));
  EXPECT_EQ(padded("wrap", {4, 1}), (Numbers{3, 1, 2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(padded("constant", {-1, 1}), (Numbers{2, 3, 0}));
  EXPECT_EQ(padded("edge", {-2, -1}), Numbers());
  EXPECT_EQ(padded("wrap", {1, -1}), (Numbers{2, 1, 2}));
  EXPECT_EQ(padded("edge", {-1, 2}), (Numbers{2, 3, 3, 3}));
  EXPECT_EQ(values_of(run_op("pad", {kX, ints({1, 0}), f32({}, {9}), ints({-1})})[0]),
            (Numbers{9, 1, 2, 3, 9, 4, 5, 6}));
}

TEST(Pad, refusals) {
  EXPECT_EQ(refusal("pad", {kRow, ints({1, 1})}, {{"mode", "mirror"}}),
            "mode is 'mirror' and should be constant, reflect, edge or wrap");
  EXPECT_EQ(refusal("pad", {kRow, ints({-3, -3})}), "dimension 0 of x f32[5] cannot be padded by -3 and -3");
  EXPECT_EQ(refusal("pad", {kRow, ints({kMost, kMost})}).substr(0, 41), "dimension 0 of x f32[5] cannot be padded ");
  EXPECT_EQ(refusal("pad", {f32({0}, {}), ints({1, 0})}, {{"mode", "edge"}}),
            "dimension 0 of x f32[0] has nothing for mode edge to repeat");
  EXPECT_EQ(refusal("pad", {kX, ints({1, 1})}), "dimension 0 of pads i64[2] should be 4 (two widths a dimension)");
  EXPECT_EQ(refusal("pad", {kRow, ints({1, 1}), i64({}, {1})}), "value i64[] should be one f32");
}

TEST(CenterCropPad, the_middle_stays) {
  EXPECT_THAT(numbers_of("center_crop_pad", {kRow, ints({2})}), near({1, 2}, 0));
  EXPECT_THAT(numbers_of("center_crop_pad", {kRow, ints({8})}), near({0, 0, 1, 2, 3, 4, 0, 0}, 0));
  EXPECT_THAT(numbers_of("center_crop_pad", {kX, ints({1})}, {{"axes", Ints{-1}}}), near({2, 5}, 0));
  EXPECT_EQ(refusal("center_crop_pad", {kRow, ints({-2})}), "shape[0] is -2, which is no size");
}

TEST(Trilu, a_triangle_stays) {
  EXPECT_THAT(numbers_of("trilu", {kX}), near({1, 2, 3, 0, 5, 6}, 0));
  EXPECT_THAT(numbers_of("trilu", {kX, i64({}, {1})}, {{"upper", false}}), near({1, 2, 0, 4, 5, 6}, 0));
  EXPECT_THAT(numbers_of("trilu", {kX, i64({1}, {kMost})}), near({0, 0, 0, 0, 0, 0}, 0));
  EXPECT_THAT(numbers_of("trilu", {kX, i64({}, {-kMost})}, {{"upper", false}}), near({0, 0, 0, 0, 0, 0}, 0));
  EXPECT_EQ(refusal("trilu", {kRow}), "x f32[5] should have at least 2 dimensions");
  EXPECT_EQ(refusal("trilu", {kX, ints({1, 2})}), "k i64[2] should be one integer");
}

TEST(DepthToSpace, goes_there_and_back) {
  const Tensor x = f32({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7});
  for (const char* mode : {"DCR", "CRD"}) {
    const Attrs attrs = {{"blocksize", int64_t{2}}, {"mode", mode}};
    const Tensor y = run_op("depth_to_space", {x}, attrs)[0];
    EXPECT_EQ(y.sizes, (Ints{1, 2, 2, 2}));
    const bool dcr = mode == std::string("DCR");
    EXPECT_THAT(y.numbers(), near(dcr ? Numbers{0, 2, 4, 6, 1, 3, 5, 7} : Numbers{0, 1, 2, 3, 4, 5, 6, 7}, 0));
    EXPECT_THAT(numbers_of("space_to_depth", {y}, attrs), near(x.numbers(), 0));
  }
  EXPECT_EQ(refusal("depth_to_space", {x}, {{"blocksize", int64_t{3}}}),
            "dimension 1 of x f32[1, 8, 1, 1]: 8 elements cannot be divided by 9");
  EXPECT_EQ(refusal("space_to_depth", {x}, {{"blocksize", int64_t{0}}}), "blocksize is 0 and should be 1 to 1048576");
  EXPECT_EQ(refusal("space_to_depth", {kX}, {{"blocksize", int64_t{1}}}), "x f32[2, 3] should have 4 dimensions");
}

TEST(ReverseSequence, the_first_steps_turn_round) {
  EXPECT_THAT(numbers_of("reverse_sequence", {kX, ints({1, 2, 2})}), near({1, 5, 6, 4, 2, 3}, 0));
  EXPECT_THAT(
      numbers_of("reverse_sequence", {kX, ints({2, 3})}, {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}),
      near({2, 1, 3, 6, 5, 4}, 0));
  EXPECT_EQ(refusal("reverse_sequence", {kX, ints({1, 2, 3})}), "sequence_lens[2] is 3, but a sequence has 2 steps");
  EXPECT_EQ(refusal("reverse_sequence", {kX, ints({1, 2})}),
            "dimension 1 of x f32[2, 3] is 3, but dimension 0 of sequence_lens i64[2] is 2");
}

}  // namespace
}  // namespace nereid::ops
