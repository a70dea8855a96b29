// SPDX-License-Identifier: Apache-2.0
// Reductions, indices of extremes, the largest few and running sums.
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor i64(Ints sizes, const std::vector<double>& values) {
  return Tensor::of(DType::i64, std::move(sizes), values);
}
const Tensor kX = f32({2, 3}, {1, -2, 3, 4, 5, -6});

TEST(Reduce, each_kind_over_the_last_dimension) {
  const auto over_rows = [](std::string_view op) {
    return numbers_of(op, {kX, i64({1}, {-1})}, {{"keepdims", false}});
  };
  EXPECT_THAT(over_rows("reduce_l1"), ElementsAre(6, 15));
  EXPECT_THAT(over_rows("reduce_l2"), near({std::sqrt(14.0), std::sqrt(77.0)}));
  EXPECT_THAT(over_rows("reduce_log_sum"), near({std::log(2.0), std::log(3.0)}));
  EXPECT_THAT(over_rows("reduce_log_sum_exp"), near({std::log(std::exp(1.0) + std::exp(-2.0) + std::exp(3.0)),
                                                     std::log(std::exp(4.0) + std::exp(5.0) + std::exp(-6.0))}));
  EXPECT_THAT(over_rows("reduce_max"), ElementsAre(3, 5));
  EXPECT_THAT(over_rows("reduce_mean"), near({2.0 / 3, 1}));
  EXPECT_THAT(over_rows("reduce_min"), ElementsAre(-2, -6));
  EXPECT_THAT(over_rows("reduce_prod"), ElementsAre(-6, -120));
  EXPECT_THAT(over_rows("reduce_sum"), ElementsAre(2, 3));
  EXPECT_THAT(over_rows("reduce_sum_square"), ElementsAre(14, 77));
}

TEST(Reduce, without_axes_everything_is_reduced_unless_that_means_nothing) {
  const Tensor all = run_op("reduce_sum", {kX})[0];
  EXPECT_EQ(all.sizes, (Ints{1, 1}));
  EXPECT_THAT(all.numbers(), ElementsAre(5));
  EXPECT_EQ(run_op("reduce_sum", {kX}, {{"keepdims", false}})[0].sizes, Ints{});
  EXPECT_EQ(run_op("reduce_sum", {kX, i64({0}, {})}, {{"noop_with_empty_axes", true}})[0].numbers(), kX.numbers());
  EXPECT_THAT(numbers_of("reduce_l1", {kX}, {{"noop_with_empty_axes", true}}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Reduce, nothing_has_a_sum_a_product_and_extremes) {
  const auto of_nothing = [](std::string_view op, DType dtype) {
    return numbers_of(op, {Tensor::of(dtype, {2, 0}, {}), i64({1}, {1})}, {{"keepdims", false}});
  };
  EXPECT_THAT(of_nothing("reduce_sum", DType::f32), ElementsAre(0, 0));
  EXPECT_THAT(of_nothing("reduce_prod", DType::f32), ElementsAre(1, 1));
  EXPECT_THAT(of_nothing("reduce_max", DType::f32), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(of_nothing("reduce_min", DType::f16), ElementsAre(kInf, kInf));
  EXPECT_THAT(of_nothing("reduce_log_sum_exp", DType::f32), ElementsAre(-kInf, -kInf));
  EXPECT_THAT(of_nothing("reduce_max", DType::i8), ElementsAre(-128, -128));
  EXPECT_THAT(of_nothing("reduce_min", DType::u8), ElementsAre(255, 255));
  EXPECT_THAT(of_nothing("reduce_min", DType::boolean), ElementsAre(1, 1));
  EXPECT_THAT(refusal("reduce_mean", {Tensor::of(DType::i32, {0}, {})}), HasSubstr("no mean of nothing"));
}

TEST(Reduce, integers_wrap_and_doubles_keep_their_digits) {
  EXPECT_THAT(numbers_of("reduce_sum", {Tensor::of(DType::u8, {2}, {200, 100})}), ElementsAre(44));
  EXPECT_THAT(numbers_of("reduce_mean", {i32({3}, {1, 2, 4})}), ElementsAre(2));
  EXPECT_THAT(numbers_of("reduce_sum", {Tensor::of(DType::f64, {2}, {1e15, 0.25})}), ElementsAre(1e15 + 0.25));
  EXPECT_THAT(numbers_of("reduce_max", {Tensor::of(DType::boolean, {2}, {0, 1})}), ElementsAre(1));
}

TEST(Reduce, not_a_number_is_the_extreme) {
  EXPECT_TRUE(std::isnan(numbers_of("reduce_max", {f32({3}, {1, NAN, 2})})[0]));
  EXPECT_TRUE(std::isnan(numbers_of("reduce_min", {f32({3}, {1, NAN, 2})})[0]));
}

TEST(Reduce, exponentials_do_not_overflow) {
  EXPECT_THAT(numbers_of("reduce_log_sum_exp", {f32({2}, {1000, 1000})}), near({1000 + std::log(2.0)}, 1e-3));
}

TEST(Reduce, sizes_are_not_known_when_axes_are_not) {
  const TensorType x{DType::f32, {symbol("n"), Dim(3)}};
  const TensorType axes{DType::i64, {Dim(1)}};
  EXPECT_EQ((*infer_types("reduce_sum", {x, axes}))[0].to_string(), "f32[?, ?]");
  EXPECT_EQ((*infer_types("reduce_sum", {x, axes}, {{"keepdims", false}}))[0].to_string(), "f32[...]");
  EXPECT_EQ((*infer_types("reduce_sum", {x}))[0].to_string(), "f32[1, 1]");
}

TEST(Reduce, refuses_axes_that_there_are_not) {
  EXPECT_EQ(refusal("reduce_sum", {kX, i64({1}, {2})}), "x f32[2, 3]: axis 2 is given, but there are 2 dimensions");
  EXPECT_EQ(refusal("reduce_sum", {kX, f32({1}, {0})}), "axes f32[1] should be i32 or i64");
  EXPECT_EQ(refusal("reduce_sum", {kX, i64({1, 1}, {0})}), "axes i64[1, 1] should have one dimension");
}

TEST(ArgExtreme, the_first_or_the_last_of_equals) {
  const Tensor x = f32({2, 3}, {1, 3, 3, 7, 2, 2});
  EXPECT_THAT(numbers_of("arg_max", {x}, {{"axis", int64_t{1}}}), ElementsAre(1, 0));
  EXPECT_THAT(numbers_of("arg_max", {x}, {{"axis", int64_t{-1}}, {"select_last_index", true}}), ElementsAre(2, 0));
  EXPECT_THAT(numbers_of("arg_min", {x}, {{"axis", int64_t{1}}}), ElementsAre(0, 1));
  const Tensor y = run_op("arg_min", {x}, {{"keepdims", false}})[0];
  EXPECT_EQ(y.dtype, DType::i64);
  EXPECT_EQ(y.sizes, Ints{3});
  EXPECT_THAT(y.numbers(), ElementsAre(0, 1, 1));
}

TEST(ArgExtreme, unsigned_integers_compare_as_such) {
  EXPECT_THAT(numbers_of("arg_max", {Tensor::of(DType::u64, {2}, {1, 0x1p63})}), ElementsAre(1));
}

TEST(ArgExtreme, refuses_to_choose_from_nothing) {
  EXPECT_EQ(refusal("arg_max", {f32({0, 2}, {})}), "dimension 0 of x f32[0, 2] has no elements to choose from");
  EXPECT_EQ(refusal("arg_max", {kX}, {{"axis", int64_t{2}}}), "x f32[2, 3] has no dimension 2");
}

TEST(TopK, the_largest_in_order_with_equals_by_index) {
  const auto y = run_op("top_k", {f32({2, 4}, {1, 4, 4, 2, 9, 8, 7, 6}), i64({1}, {3})});
  EXPECT_THAT(y[0].numbers(), ElementsAre(4, 4, 2, 9, 8, 7));
  EXPECT_THAT(y[1].numbers(), ElementsAre(1, 2, 3, 0, 1, 2));
}

TEST(TopK, the_smallest_along_another_axis) {
  const auto y =
      run_op("top_k", {i32({3, 2}, {5, 1, 3, 2, 4, 0}), i64({1}, {2})}, {{"axis", int64_t{0}}, {"largest", false}});
  EXPECT_EQ(y[0].dtype, DType::i32);
  EXPECT_THAT(y[0].numbers(), ElementsAre(3, 0, 4, 1));
  EXPECT_THAT(y[1].numbers(), ElementsAre(1, 2, 2, 0));
}

TEST(TopK, refuses_more_than_there_are) {
  EXPECT_EQ(refusal("top_k", {f32({2}, {1, 2}), i64({1}, {3})}), "3 elements are wanted of dimension 0 of x f32[2]");
  EXPECT_EQ(refusal("top_k", {f32({2}, {1, 2}), i64({1}, {-1})}), "-1 elements are wanted of dimension 0 of x f32[2]");
  EXPECT_EQ(refusal("top_k", {f32({2}, {1, 2}), i64({2}, {1, 1})}), "k i64[2] should be one number");
}

TEST(Cumulative, sums_and_products_each_way) {
  const Tensor x = f32({3}, {1, 2, 3});
  const Tensor axis = i64({}, {0});
  EXPECT_THAT(numbers_of("cum_sum", {x, axis}), ElementsAre(1, 3, 6));
  EXPECT_THAT(numbers_of("cum_sum", {x, axis}, {{"exclusive", true}}), ElementsAre(0, 1, 3));
  EXPECT_THAT(numbers_of("cum_sum", {x, axis}, {{"reverse", true}}), ElementsAre(6, 5, 3));
  EXPECT_THAT(numbers_of("cum_sum", {x, axis}, {{"exclusive", true}, {"reverse", true}}), ElementsAre(5, 3, 0));
  EXPECT_THAT(numbers_of("cum_prod", {x, axis}), ElementsAre(1, 2, 6));
  EXPECT_THAT(numbers_of("cum_prod", {x, axis}, {{"exclusive", true}}), ElementsAre(1, 1, 2));
  EXPECT_THAT(numbers_of("cum_sum", {i32({2, 2}, {1, 2, 3, 4}), i64({1}, {-1})}), ElementsAre(1, 3, 3, 7));
}

TEST(Cumulative, refuses_an_axis_that_there_is_not) {
  EXPECT_EQ(refusal("cum_sum", {kX, i64({}, {2})}), "x f32[2, 3] has no dimension 2");
  EXPECT_EQ(refusal("cum_sum", {kX, f32({1}, {0})}), "axis f32[1] should be i32 or i64");
}

}  // namespace
}  // namespace nereid::ops
