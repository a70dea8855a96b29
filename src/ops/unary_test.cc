// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({4}, {-1, 0, 0.5, 2});

// Values of the formulas, computed with 50 digits and rounded.
TEST(Unary, activations_have_the_values_of_their_formulas) {
  EXPECT_THAT(numbers_of("silu", {kX}), near({-0.2689414214, 0, 0.3112296656, 1.7615941560}));
  EXPECT_THAT(numbers_of("gelu", {kX}), near({-0.1586552539, 0, 0.3457312307, 1.9544997361}));
  EXPECT_THAT(numbers_of("gelu_tanh", {kX}), near({-0.1588080094, 0, 0.3457140335, 1.9545976878}));
  EXPECT_THAT(numbers_of("relu", {kX}), near({0, 0, 0.5, 2}));
  EXPECT_THAT(numbers_of("sigmoid", {kX}), near({0.2689414214, 0.5, 0.6224593312, 0.8807970780}));
  EXPECT_THAT(numbers_of("tanh", {kX}), near({-0.7615941560, 0, 0.4621171573, 0.9640275801}));
  EXPECT_THAT(numbers_of("exp", {kX}), near({0.3678794412, 1, 1.6487212707, 7.3890560989}));
  EXPECT_THAT(numbers_of("neg", {kX}), near({1, 0, -0.5, -2}));
  EXPECT_THAT(numbers_of("sqrt", {f32({2}, {4, 2})}), near({2, 1.4142135624}));
}

TEST(Unary, half_precision_results_are_rounded_once) {
  const Tensor y = run_op("exp", {Tensor::of(DType::bf16, {1}, {1})})[0];
  EXPECT_EQ(y.dtype, DType::bf16);
  EXPECT_THAT(y.numbers(), near({2.71875}, 0));
}

TEST(Unary, a_nan_stays_a_nan) {
  for (const char* op : {"relu", "silu", "gelu", "gelu_tanh", "tanh"})
    EXPECT_TRUE(std::isnan(numbers_of(op, {f32({1}, {NAN})})[0])) << op;
}

TEST(Unary, integers_are_refused_with_their_type) {
  EXPECT_EQ(refusal("silu", {i32({2}, {1, 2})}), "x i32[2] should be f32, f64, f16 or bf16");
}

TEST(Unary, functions_have_the_values_of_their_definitions) {
  const Tensor x = f32({3}, {-0.9, 0.3, 0.75});
  EXPECT_THAT(numbers_of("acos", {x}), near({2.69056584, 1.26610367, 0.72273424}));
  EXPECT_THAT(numbers_of("asin", {x}), near({-1.11976951, 0.30469265, 0.84806207}));
  EXPECT_THAT(numbers_of("atan", {x}), near({-0.73281510, 0.29145679, 0.64350110}));
  EXPECT_THAT(numbers_of("atanh", {x}), near({-1.47221948, 0.30951960, 0.97295507}));
  EXPECT_THAT(numbers_of("asinh", {x}), near({-0.80886693, 0.29567304, 0.69314718}));
  EXPECT_THAT(numbers_of("acosh", {f32({3}, {1, 1.5, 10})}), near({0, 0.96242365, 2.99322284}));
  EXPECT_THAT(numbers_of("cos", {x}), near({0.62160996, 0.95533648, 0.73168886}));
  EXPECT_THAT(numbers_of("sin", {x}), near({-0.78332690, 0.29552020, 0.68163876}));
  EXPECT_THAT(numbers_of("tan", {x}), near({-1.26015821, 0.30933624, 0.93159645}));
  EXPECT_THAT(numbers_of("cosh", {x}), near({1.43308638, 1.04533851, 1.29468328}));
  EXPECT_THAT(numbers_of("sinh", {x}), near({-1.02651672, 0.30452029, 0.82231673}));
  EXPECT_THAT(numbers_of("erf", {x}), near({-0.79690821, 0.32862675, 0.71115563}));
  EXPECT_THAT(numbers_of("log", {f32({3}, {1, 0.5, 10})}), near({0, -0.69314718, 2.30258509}));
  EXPECT_THAT(numbers_of("softplus", {f32({3}, {-1, 0, 3})}), near({0.31326168, 0.69314718, 3.04858735}));
  EXPECT_THAT(numbers_of("softplus", {f32({2}, {-1000, 1000})}), near({0, 1000}, 0));
  EXPECT_THAT(numbers_of("softsign", {f32({2}, {-3, 1})}), near({-0.75, 0.5}));
  EXPECT_THAT(numbers_of("mish", {f32({3}, {-1, 0, 3})}), near({-0.30340146, 0, 2.98653500}));
  EXPECT_THAT(numbers_of("hard_swish", {f32({4}, {-4, -1, 1, 5})}), near({0, -1.0 / 3, 2.0 / 3, 5}));
  EXPECT_THAT(numbers_of("reciprocal", {f32({2}, {4, -0.5})}), near({0.25, -2}, 0));
  EXPECT_THAT(numbers_of("ceil", {f32({2}, {-1.5, 1.2})}), near({-1, 2}, 0));
  EXPECT_THAT(numbers_of("floor", {f32({2}, {-1.5, 1.2})}), near({-2, 1}, 0));
  EXPECT_THAT(numbers_of("round", {f32({5}, {0.5, 1.5, 2.5, -4.5, 2.3})}), near({0, 2, 2, -4, 2}, 0));
}

TEST(Unary, f64_is_computed_in_f64) {
  const Tensor x = Tensor::of(DType::f64, {1}, {2});
  EXPECT_EQ(numbers_of("sqrt", {x})[0], std::sqrt(2.0));
  EXPECT_EQ(numbers_of("exp", {x})[0], std::exp(2.0));
}

TEST(Unary, the_smallest_integer_is_its_own_negative) {
  const double least = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(numbers_of("abs", {i32({3}, {-5, 7, least})}), near({5, 7, least}, 0));
  EXPECT_THAT(numbers_of("neg", {i32({3}, {-5, 7, least})}), near({5, -7, least}, 0));
  EXPECT_THAT(numbers_of("neg", {f32({2}, {1, -2})}), near({-1, 2}, 0));
  EXPECT_THAT(numbers_of("sign", {i32({3}, {-5, 0, 9})}), near({-1, 0, 1}, 0));
  EXPECT_THAT(numbers_of("sign", {Tensor::of(DType::u64, {2}, {0, 9})}), near({0, 1}, 0));
  EXPECT_THAT(numbers_of("relu", {Tensor::of(DType::i8, {2}, {-3, 4})}), near({0, 4}, 0));
}

TEST(Unary, bits_and_truths_are_turned) {
  EXPECT_THAT(numbers_of("bitwise_not", {Tensor::of(DType::u8, {2}, {0, 0xf0})}), near({255, 15}, 0));
  EXPECT_THAT(numbers_of("bitwise_not", {Tensor::of(DType::i16, {1}, {5})}), near({-6}, 0));
  EXPECT_THAT(numbers_of("not", {Tensor::of(DType::boolean, {2}, {0, 1})}), near({1, 0}, 0));
  EXPECT_EQ(refusal("not", {i32({1}, {1})}), "x i32[1] should be bool");
  EXPECT_EQ(refusal("bitwise_not", {kX}), "x f32[4] should be an integer type");
  EXPECT_EQ(refusal("abs", {Tensor::of(DType::boolean, {1}, {1})}),
            "x bool[1] should be f32, f64, f16, bf16 or an integer type");
}

TEST(Unary, nan_and_infinities_are_told_apart) {
  const Tensor x = f32({4}, {NAN, INFINITY, -INFINITY, 1});
  EXPECT_EQ(run_op("is_nan", {x})[0].dtype, DType::boolean);
  EXPECT_THAT(numbers_of("is_nan", {x}), near({1, 0, 0, 0}, 0));
  EXPECT_THAT(numbers_of("is_inf", {x}), near({0, 1, 1, 0}, 0));
  EXPECT_THAT(numbers_of("is_inf", {x}, {{"detect_positive", false}}), near({0, 0, 1, 0}, 0));
  EXPECT_THAT(numbers_of("is_inf", {x}, {{"detect_negative", false}}), near({0, 1, 0, 0}, 0));
  EXPECT_EQ(refusal("is_nan", {i32({1}, {1})}), "x i32[1] should be a float type");
}

TEST(Unary, identity_takes_sequences_and_texts) {
  Tensor text = Tensor::zeros(DType::string, {1}).value();
  text.strings = {"a b"};
  EXPECT_EQ(run_op("identity", {text})[0].strings, text.strings);
  const Datum sequence = Datum::sequence(DType::f32, {Datum(kX)});
  const Datum* input = &sequence;
  const auto results = run_any(*find_op("identity"), std::span(&input, 1), {});
  ASSERT_TRUE(results.is_ok());
  EXPECT_EQ((*results)[0].items.size(), 1u);
}

TEST(Unary, identity_takes_any_type) {
  EXPECT_THAT(numbers_of("identity", {i32({2}, {7, -3})}), near({7, -3}, 0));
}

}  // namespace
}  // namespace nereid::ops
