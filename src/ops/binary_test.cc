// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

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

TEST(Binary, integers_of_every_width_are_taken) {
  for (DType d : {DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16, DType::u32, DType::u64}) {
    const Tensor a = Tensor::of(d, {2}, {7, 100});
    const Tensor b = Tensor::of(d, {2}, {2, 3});
    EXPECT_THAT(numbers_of("add", {a, b}), near({9, 103}, 0)) << dtype_name(d);
    EXPECT_THAT(numbers_of("sub", {a, b}), near({5, 97}, 0)) << dtype_name(d);
    EXPECT_THAT(numbers_of("mul", {Tensor::of(d, {2}, {7, 10}), b}), near({14, 30}, 0)) << dtype_name(d);
    EXPECT_THAT(numbers_of("div", {a, b}), near({3, 33}, 0)) << dtype_name(d);
    EXPECT_THAT(numbers_of("mod", {a, b}), near({1, 1}, 0)) << dtype_name(d);
  }
  EXPECT_THAT(numbers_of("add", {Tensor::of(DType::u8, {1}, {250}), Tensor::of(DType::u8, {1}, {10})}), near({4}, 0));
}

TEST(Binary, the_smallest_integer_over_minus_one_wraps) {
  Tensor least = Tensor::zeros(DType::i64, {1}).value();
  least.view().as<int64_t>()[0] = std::numeric_limits<int64_t>::min();
  const Tensor minus_one = Tensor::of(DType::i64, {1}, {-1});
  EXPECT_EQ(run_op("div", {least, minus_one})[0].bytes, least.bytes);
  EXPECT_THAT(numbers_of("mod", {least, minus_one}), near({0}, 0));
  EXPECT_THAT(numbers_of("div", {i32({1}, {-2147483648.0}), i32({1}, {-1})}), near({-2147483648.0}, 0));
}

TEST(Binary, mod_takes_the_sign_of_the_divisor_or_of_the_dividend) {
  const Tensor a = i32({4}, {-4, 7, 5, -7});
  const Tensor b = i32({4}, {2, -3, 8, 3});
  EXPECT_THAT(numbers_of("mod", {a, b}), near({0, -2, 5, 2}, 0));
  EXPECT_THAT(numbers_of("mod", {a, b}, {{"fmod", true}}), near({0, 1, 5, -1}, 0));
  const Tensor x = f32({3}, {-4.3, 7.2, 5});
  const Tensor y = f32({3}, {2.1, -3.4, INFINITY});
  EXPECT_THAT(numbers_of("mod", {x, y}), near({2, -3, 5}));
  EXPECT_THAT(numbers_of("mod", {x, y}, {{"fmod", true}}), near({-0.1, 0.4, 5}));
  EXPECT_EQ(refusal("mod", {a, i32({1}, {0})}), "the integer -4 is divided by 0");
}

TEST(Binary, powers_keep_the_type_of_the_base) {
  const Tensor y = run_op("pow", {i32({3}, {2, 3, -1}), f32({3}, {3, 2, 3})})[0];
  EXPECT_EQ(y.dtype, DType::i32);
  EXPECT_THAT(y.numbers(), near({8, 9, -1}, 0));
  EXPECT_THAT(numbers_of("pow", {f32({2}, {2, 9}), i32({2}, {-1, 2})}), near({0.5, 81}, 0));
  EXPECT_THAT(numbers_of("pow", {f32({1}, {9}), Tensor::of(DType::f64, {}, {0.5})}), near({3}, 0));
  EXPECT_THAT(numbers_of("pow", {i32({4}, {2, 1, -1, -1}), i32({4}, {-1, -5, -3, -2})}), near({0, 1, -1, 1}, 0));
  EXPECT_EQ(refusal("pow", {i32({1}, {0}), i32({1}, {-2})}), "0 is raised to the power of -2");
}

TEST(Binary, tensors_without_elements_combine) {
  EXPECT_THAT(numbers_of("add", {f32({0, 2}, {}), f32({1, 2}, {1, 2})}), testing::IsEmpty());
  EXPECT_THAT(numbers_of("div", {i32({0}, {}), i32({1}, {0})}), testing::IsEmpty());
}

TEST(Binary, tensors_of_many_elements_are_taken_part_by_part) {
  constexpr int64_t kMany = 40000;
  std::vector<double> numbers(kMany);
  for (int64_t i = 0; i < kMany; ++i) numbers[static_cast<size_t>(i)] = static_cast<double>(i % 7);
  const Tensor a = Tensor::of(DType::u4, {kMany}, numbers);
  const auto twice = numbers_of("add", {a, a});
  const auto more = numbers_of("add", {a, Tensor::of(DType::u4, {}, {3})});
  for (size_t i = 0; i < numbers.size(); ++i) {
    ASSERT_EQ(twice[i], 2 * numbers[i]) << i;
    ASSERT_EQ(more[i], numbers[i] + 3) << i;
  }
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
