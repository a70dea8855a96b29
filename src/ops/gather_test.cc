// SPDX-License-Identifier: Apache-2.0
// The ops that pick and place by index: gather, gather_elements, gather_nd, scatter_elements, scatter_nd, one_hot,
// array_feature_extractor, tensor_scatter, compress, nonzero, unique.
#include <limits>

#include "ops/move_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({2, 3}, {1, 2, 3, 4, 5, 6});
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Attrs axis(int64_t d) {
  return {{"axis", d}};
}

TEST(Gather, slices_come_in_the_order_asked_for) {
  EXPECT_THAT(numbers_of("gather", {kX, ints({1, -2})}), near({4, 5, 6, 1, 2, 3}, 0));
  const Tensor y = run_op("gather", {kX, i64({2, 1}, {2, 0})}, axis(1))[0];
  EXPECT_EQ(y.sizes, (Ints{2, 2, 1}));
  EXPECT_THAT(y.numbers(), near({3, 1, 6, 4}, 0));
  EXPECT_EQ(run_op("gather", {kX, i64({}, {1})})[0].sizes, (Ints{3}));
  EXPECT_EQ(run_op("gather", {texts({2}, {"a", "b"}), ints({1})})[0].strings, (std::vector<std::string>{"b"}));
  for (DType d : number_types())
    EXPECT_EQ(values_of(run_op("gather", {numbers(d, {3}, {0, 1, 1}), ints({2, 0, 1})})[0]), (Numbers{1, 0, 1}));
}

TEST(Gather, an_index_outside_is_named) {
  EXPECT_EQ(refusal("gather", {kX, ints({0, 2})}), "indices[1] is 2, but there are 2 to choose from");
  EXPECT_EQ(refusal("gather", {kX, ints({-3})}), "indices[0] is -3, but there are 2 to choose from");
  EXPECT_EQ(refusal("gather", {f32({0, 2}, {}), ints({0})}), "indices[0] is 0, but there are 0 to choose from");
  EXPECT_EQ(refusal("gather", {kX, ints({0})}, axis(2)), "x f32[2, 3] has no dimension 2");
  EXPECT_EQ(refusal("gather", {kX, f32({1}, {0})}), "indices f32[1] should be i32 or i64");
}

TEST(GatherElements, one_coordinate_is_the_index) {
  EXPECT_THAT(numbers_of("gather_elements", {kX, i64({2, 2}, {0, 2, 1, -1})}, axis(1)), near({1, 3, 5, 6}, 0));
  EXPECT_THAT(numbers_of("gather_elements", {kX, i64({1, 2}, {1, 0})}), near({4, 2}, 0));
  EXPECT_EQ(refusal("gather_elements", {kX, i64({1, 4}, {0, 0, 0, 0})}),
            "dimension 1 of indices i64[1, 4] reaches past that of x f32[2, 3]");
  EXPECT_EQ(refusal("gather_elements", {kX, i64({1, 1}, {2})}), "indices[0] is 2, but there are 2 to choose from");
  EXPECT_EQ(refusal("gather_elements", {kX, ints({0})}), "indices i64[1] should have 2 dimensions");
}

TEST(GatherNd, rows_of_indices_are_coordinates) {
  EXPECT_THAT(numbers_of("gather_nd", {kX, i64({2, 2}, {0, 0, 1, -1})}), near({1, 6}, 0));
  EXPECT_THAT(numbers_of("gather_nd", {kX, i64({2, 1}, {1, 0})}), near({4, 5, 6, 1, 2, 3}, 0));
  EXPECT_THAT(numbers_of("gather_nd", {kX, i64({2, 1}, {1, 0})}, {{"batch_dims", int64_t{1}}}), near({2, 4}, 0));
  EXPECT_EQ(run_op("gather_nd", {kX, i64({2, 0}, {})})[0].sizes, (Ints{2, 2, 3}));
  EXPECT_EQ(run_op("gather_nd", {f32({0}, {}), i64({1000000000000, 0}, {})})[0].sizes, (Ints{1000000000000, 0}));
  EXPECT_EQ(refusal("gather_nd", {kX, i64({1, 2}, {0, 3})}), "indices[1] is 3, but there are 3 to choose from");
  EXPECT_EQ(refusal("gather_nd", {kX, i64({1, 3}, {0, 0, 0})}),
            "indices i64[1, 3] has rows of 3 coordinates, but x f32[2, 3] has 2 dimensions after the batch");
  EXPECT_EQ(refusal("gather_nd", {kX, ints({0})}, {{"batch_dims", int64_t{1}}}),
            "batch_dims is 1 and should be at least 0 and less than the rank of x f32[2, 3] and of indices i64[1]");
}

TEST(ScatterElements, updates_replace_or_combine) {
  const Tensor at = i64({1, 2}, {1, 1});
  const Tensor new_values = f32({1, 2}, {9, 7});
  EXPECT_THAT(numbers_of("scatter_elements", {kX, at, new_values}), near({1, 2, 3, 9, 7, 6}, 0));
  EXPECT_THAT(numbers_of("scatter_elements", {kX, at, new_values}, axis(1)), near({1, 7, 3, 4, 5, 6}, 0));
  const auto combined = [&](const char* how) {
    return numbers_of("scatter_elements", {kX, at, new_values}, {{"axis", int64_t{1}}, {"reduction", how}})[1];
  };
  EXPECT_EQ(combined("add"), 18);
  EXPECT_EQ(combined("mul"), 126);
  EXPECT_EQ(combined("max"), 9);
  EXPECT_EQ(combined("min"), 2);
}

TEST(ScatterElements, every_number_type_combines) {
  for (DType d : number_types())
    EXPECT_EQ(values_of(run_op("scatter_elements", {numbers(d, {2}, {0, 1}), ints({1}), numbers(d, {1}, {0})},
                               {{"reduction", "max"}})[0]),
              (Numbers{0, 1}))
        << dtype_name(d);
  EXPECT_EQ(
      values_of(run_op("scatter_elements", {numbers(DType::i8, {1}, {127}), ints({0}), numbers(DType::i8, {1}, {1})},
                       {{"reduction", "add"}})[0]),
      (Numbers{-128}));
  EXPECT_EQ(values_of(run_op("scatter_elements",
                             {numbers(DType::boolean, {2}, {0, 1}), ints({0}), numbers(DType::boolean, {1}, {1})},
                             {{"reduction", "add"}})[0]),
            (Numbers{1, 1}));
  EXPECT_EQ(run_op("scatter_elements", {texts({2}, {"a", "b"}), ints({0}), texts({1}, {"c"})})[0].strings,
            (std::vector<std::string>{"c", "b"}));
}

TEST(ScatterElements, refusals) {
  const Tensor u = f32({1, 1}, {9});
  EXPECT_EQ(refusal("scatter_elements", {kX, i64({1, 1}, {-3}), u}),
            "indices[0] is -3, but there are 2 to choose from");
  EXPECT_EQ(refusal("scatter_elements", {kX, i64({1, 1}, {0}), u}, {{"reduction", "xor"}}),
            "reduction is 'xor' and should be none, add, mul, max or min");
  EXPECT_EQ(refusal("scatter_elements", {kX, i64({1, 2}, {0, 0}), u}),
            "dimension 1 of indices i64[1, 2] is 2, but dimension 1 of updates f32[1, 1] is 1");
  EXPECT_EQ(refusal("scatter_elements", {kX, i64({1, 1}, {0}), i64({1, 1}, {0})}),
            "x f32[2, 3] and updates i64[1, 1] should have one element type");
  EXPECT_EQ(refusal("scatter_elements", {texts({1}, {"a"}), ints({0}), texts({1}, {"b"})}, {{"reduction", "add"}}),
            "elements of type string cannot be combined by 'add'");
}

TEST(ScatterNd, slices_go_to_their_coordinates) {
  EXPECT_THAT(numbers_of("scatter_nd", {kX, i64({1, 1}, {-1}), f32({1, 3}, {7, 8, 9})}), near({1, 2, 3, 7, 8, 9}, 0));
  EXPECT_THAT(numbers_of("scatter_nd", {kX, i64({2, 2}, {0, 1, 0, 1}), f32({2}, {7, 8})}, {{"reduction", "add"}}),
              near({1, 17, 3, 4, 5, 6}, 0));
  EXPECT_EQ(refusal("scatter_nd", {kX, i64({1, 2}, {0, 3}), f32({1}, {7})}),
            "indices[1] is 3, but there are 3 to choose from");
  EXPECT_EQ(refusal("scatter_nd", {kX, i64({1, 3}, {0, 0, 0}), f32({1}, {7})}),
            "indices i64[1, 3] has rows of 3 coordinates, but x f32[2, 3] has 2 dimensions");
  EXPECT_EQ(refusal("scatter_nd", {kX, i64({1, 1}, {0}), f32({1}, {7})}), "updates f32[1] should have 2 dimensions");
}

TEST(OneHot, one_place_differs) {
  const Tensor values = ints({5, 6});
  EXPECT_EQ(values_of(run_op("one_hot", {ints({0, -1, 3}), i64({}, {2}), values})[0]), (Numbers{6, 5, 5, 6, 5, 5}));
  const Tensor y = run_op("one_hot", {f32({2}, {0, 1}), f32({1}, {3}), values}, axis(0))[0];
  EXPECT_EQ(y.sizes, (Ints{3, 2}));
  EXPECT_EQ(values_of(y), (Numbers{6, 5, 5, 6, 5, 5}));
  EXPECT_EQ(refusal("one_hot", {ints({0}), i64({}, {-2}), values}), "depth is -2 and should not be negative");
  EXPECT_EQ(refusal("one_hot", {ints({0}), i64({}, {2}), values}, axis(2)),
            "axis is 2, but the result has 2 dimensions");
  EXPECT_EQ(refusal("one_hot", {ints({0}), i64({}, {2}), ints({1})}),
            "dimension 0 of values i64[1] should be 2 (the value elsewhere and the value at the index)");
}

TEST(ArrayFeatureExtractor, columns_are_taken) {
  EXPECT_THAT(numbers_of("array_feature_extractor", {kX, i64({1, 2}, {2, 0})}), near({3, 1, 6, 4}, 0));
  EXPECT_EQ(run_op("array_feature_extractor", {f32({3}, {1, 2, 3}), ints({1})})[0].sizes, (Ints{1, 1}));
  EXPECT_EQ(refusal("array_feature_extractor", {kX, ints({3})}), "indices[0] is 3, but there are 3 to choose from");
}

TEST(TensorScatter, steps_are_written_from_each_place_on) {
  const Tensor cache = f32({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Tensor update = f32({2, 2, 1}, {7, 8, 9, 10});
  EXPECT_THAT(numbers_of("tensor_scatter", {cache, update}), near({7, 8, 3, 9, 10, 6}, 0));
  EXPECT_THAT(numbers_of("tensor_scatter", {cache, update, ints({1, 2})}, {{"mode", "circular"}}),
              near({1, 7, 8, 10, 5, 9}, 0));
  EXPECT_EQ(refusal("tensor_scatter", {cache, update, ints({0, 2})}),
            "write_indices[1] is 2, where 2 steps do not fit into a cache of 3");
  EXPECT_EQ(refusal("tensor_scatter", {cache, update}, axis(0)),
            "axis 0 is the batch's dimension and should be another");
  EXPECT_EQ(refusal("tensor_scatter", {update, cache}),
            "update f32[2, 3, 1] has more steps than past_cache f32[2, 2, 1]");
}

TEST(Compress, a_condition_selects) {
  const Tensor c = numbers(DType::boolean, {2}, {0, 1});
  EXPECT_THAT(numbers_of("compress", {kX, c}, axis(0)), near({4, 5, 6}, 0));
  EXPECT_THAT(numbers_of("compress", {kX, c}, axis(-1)), near({2, 5}, 0));
  EXPECT_EQ(refusal("compress", {kX, numbers(DType::boolean, {3}, {0, 0, 1})}, axis(0)),
            "condition selects 2, but dimension 0 of x has size 2");
  EXPECT_EQ(refusal("compress", {kX, ints({1})}, axis(0)), "condition i64[1] should be bool");
}

TEST(Nonzero, places_come_dimension_by_dimension) {
  const Tensor y = run_op("nonzero", {f32({2, 2}, {1, 0, kNan, -2})})[0];
  EXPECT_EQ(y.sizes, (Ints{2, 3}));
  EXPECT_EQ(values_of(y), (Numbers{0, 1, 1, 0, 0, 1}));
  EXPECT_EQ(run_op("nonzero", {f32({}, {1})})[0].sizes, (Ints{1, 1}));
  EXPECT_EQ(values_of(run_op("nonzero", {texts({2}, {"", "a"})})[0]), (Numbers{1}));
}

TEST(Unique, slices_are_told_apart) {
  auto r = run_op("unique", {f32({6}, {2, 1, 1, 3, 4, 3})}, axis(0));
  EXPECT_EQ(values_of(r[0]), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(values_of(r[1]), (Numbers{1, 0, 3, 4}));
  EXPECT_EQ(values_of(r[2]), (Numbers{1, 0, 0, 2, 3, 2}));
  EXPECT_EQ(values_of(r[3]), (Numbers{2, 1, 2, 1}));
  r = run_op("unique", {f32({6}, {2, 1, 1, 3, 4, 3})}, {{"axis", int64_t{0}}, {"sorted", false}});
  EXPECT_EQ(values_of(r[0]), (Numbers{2, 1, 3, 4}));
  EXPECT_EQ(values_of(r[2]), (Numbers{0, 1, 1, 2, 3, 2}));
  EXPECT_EQ(values_of(run_op("unique", {f32({3, 2}, {1, 0, 1, 0, 0, 1})}, axis(0))[0]), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(run_op("unique", {f32({3}, {kNan, 1, kNan})}, axis(0))[0].sizes, (Ints{2}));
  EXPECT_EQ(run_op("unique", {texts({3}, {"b", "a", "b"})}, axis(0))[0].strings, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(run_op("unique", {f32({0}, {})}, axis(0))[0].sizes, (Ints{0}));
  EXPECT_EQ(refusal("unique", {kX}, axis(2)), "x f32[2, 3] has no dimension 2");
}

}  // namespace
}  // namespace nereid::ops
