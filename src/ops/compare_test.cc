// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, bits, choices and ops of any number of tensors.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

Tensor truths(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::boolean, std::move(sizes), values);
}
Tensor texts(std::vector<int64_t> sizes, std::vector<std::string> values) {
  Tensor t = Tensor::zeros(DType::string, std::move(sizes)).value();
  t.strings = std::move(values);
  return t;
}

TEST(Compare, orders_are_those_of_the_numbers) {
  const Tensor a = f32({3}, {1, 2, NAN});
  const Tensor b = f32({1}, {2});
  EXPECT_EQ(run_op("less", {a, b})[0].dtype, DType::boolean);
  EXPECT_THAT(numbers_of("less", {a, b}), near({1, 0, 0}, 0));
  EXPECT_THAT(numbers_of("less_or_equal", {a, b}), near({1, 1, 0}, 0));
  EXPECT_THAT(numbers_of("greater", {a, b}), near({0, 0, 0}, 0));
  EXPECT_THAT(numbers_of("greater_or_equal", {a, b}), near({0, 1, 0}, 0));
  EXPECT_THAT(numbers_of("equal", {a, b}), near({0, 1, 0}, 0));
  EXPECT_EQ(refusal("less", {truths({1}, {1}), truths({1}, {1})}),
            "a bool[1] should be f32, f64, f16, bf16 or an integer type");
}

TEST(Compare, integers_of_64_bits_are_not_rounded) {
  Tensor a = Tensor::zeros(DType::u64, {1}).value();
  Tensor b = a;
  a.view().as<uint64_t>()[0] = (uint64_t{1} << 63) + 1;
  b.view().as<uint64_t>()[0] = uint64_t{1} << 63;
  EXPECT_THAT(numbers_of("greater", {a, b}), near({1}, 0));
  EXPECT_THAT(numbers_of("equal", {a, b}), near({0}, 0));
}

TEST(Compare, texts_and_truths_are_equal_or_not) {
  EXPECT_THAT(numbers_of("equal", {texts({2}, {"a", "b"}), texts({1}, {"b"})}), near({0, 1}, 0));
  EXPECT_THAT(numbers_of("equal", {truths({2}, {0, 1}), truths({2}, {1, 1})}), near({0, 1}, 0));
  EXPECT_EQ(refusal("equal", {Tensor::of(DType::c64, {1}, {1}), Tensor::of(DType::c64, {1}, {1})}),
            "elements of a c64[1] are not compared");
}

TEST(Logical, truths_combine) {
  const Tensor a = truths({2, 1}, {0, 1});
  const Tensor b = truths({2}, {0, 1});
  EXPECT_THAT(numbers_of("and", {a, b}), near({0, 0, 0, 1}, 0));
  EXPECT_THAT(numbers_of("or", {a, b}), near({0, 1, 1, 1}, 0));
  EXPECT_THAT(numbers_of("xor", {a, b}), near({0, 1, 1, 0}, 0));
  EXPECT_EQ(refusal("and", {a, i32({1}, {1})}), "b i32[1] should be bool");
}

TEST(Bitwise, bits_combine) {
  const Tensor a = Tensor::of(DType::u8, {2}, {12, 255});
  const Tensor b = Tensor::of(DType::u8, {1}, {10});
  EXPECT_THAT(numbers_of("bitwise_and", {a, b}), near({8, 10}, 0));
  EXPECT_THAT(numbers_of("bitwise_or", {a, b}), near({14, 255}, 0));
  EXPECT_THAT(numbers_of("bitwise_xor", {a, b}), near({6, 245}, 0));
  EXPECT_THAT(numbers_of("bitwise_and", {i32({1}, {-1}), i32({1}, {-8})}), near({-8}, 0));
}

TEST(Bitwise, shifts_past_the_width_leave_the_sign) {
  const Tensor by = Tensor::of(DType::i8, {5}, {1, 7, 8, 100, -1});
  const Tensor minus = Tensor::of(DType::i8, {1}, {-6});
  EXPECT_THAT(numbers_of("bit_shift", {minus, by}, {{"direction", "RIGHT"}}), near({-3, -1, -1, -1, -1}, 0));
  EXPECT_THAT(numbers_of("bit_shift", {minus, by}, {{"direction", "LEFT"}}), near({-12, 0, 0, 0, 0}, 0));
  const Tensor a = Tensor::of(DType::u64, {3}, {16, 4, 1});
  EXPECT_THAT(numbers_of("bit_shift", {a, Tensor::of(DType::u64, {3}, {1, 2, 64})}, {{"direction", "RIGHT"}}),
              near({8, 1, 0}, 0));
  EXPECT_THAT(numbers_of("bit_shift", {a, Tensor::of(DType::u64, {3}, {1, 2, 64})}, {{"direction", "LEFT"}}),
              near({32, 16, 0}, 0));
  EXPECT_EQ(refusal("bit_shift", {a, a}, {{"direction", "UP"}}), "direction is 'UP' and should be LEFT or RIGHT");
}

TEST(Where, elements_of_any_type_are_chosen) {
  EXPECT_THAT(numbers_of("where", {truths({2, 1}, {1, 0}), f32({2}, {1, 2}), f32({}, {9})}), near({1, 2, 9, 9}, 0));
  const Tensor y = run_op("where", {truths({2}, {1, 0}), texts({2}, {"a", "b"}), texts({1}, {"c"})})[0];
  EXPECT_EQ(y.strings, (std::vector<std::string>{"a", "c"}));
  const Tensor half = run_op(
      "where", {truths({3}, {1, 0, 1}), Tensor::of(DType::i4, {3}, {1, 2, 3}), Tensor::of(DType::i4, {1}, {-8})})[0];
  EXPECT_THAT(half.numbers(), near({1, -8, 3}, 0));
  EXPECT_EQ(refusal("where", {i32({1}, {1}), f32({}, {1}), f32({}, {9})}), "condition i32[1] should be bool");
  EXPECT_EQ(refusal("where", {truths({1}, {1}), f32({}, {1}), i32({}, {9})}),
            "x f32[] and y i32[] should have one element type");
}

TEST(Variadic, all_inputs_broadcast) {
  const Tensor a = f32({2, 1}, {1, 4});
  const Tensor b = f32({2}, {3, 2});
  const Tensor c = f32({}, {2.5});
  EXPECT_THAT(numbers_of("max", {a, b, c}), near({3, 2.5, 4, 4}, 0));
  EXPECT_THAT(numbers_of("min", {a, b, c}), near({1, 1, 2.5, 2}, 0));
  EXPECT_THAT(numbers_of("sum", {a, b, c}), near({6.5, 5.5, 9.5, 8.5}, 0));
  EXPECT_THAT(numbers_of("mean", {a, b}), near({2, 1.5, 3.5, 3}, 0));
  EXPECT_THAT(numbers_of("max", {i32({2}, {-1, 5})}), near({-1, 5}, 0));
  EXPECT_THAT(numbers_of("max", {i32({2}, {-1, 5}), i32({}, {2})}), near({2, 5}, 0));
  EXPECT_EQ(refusal("sum", {f32({2}, {1, 2}), f32({2}, {1, 2}), f32({3}, {1, 2, 3})}),
            "x[2] f32[3] does not broadcast with [2], the shape of those before it");
  EXPECT_EQ(refusal("sum", {}), "there are no inputs, but at least one is needed");
}

TEST(Variadic, a_nan_wins) {
  for (const char* op : {"max", "min"}) {
    EXPECT_TRUE(std::isnan(numbers_of(op, {f32({1}, {NAN}), f32({1}, {1})})[0])) << op;
    EXPECT_TRUE(std::isnan(numbers_of(op, {f32({1}, {1}), f32({1}, {NAN})})[0])) << op;
  }
}

}  // namespace
}  // namespace nereid::ops
