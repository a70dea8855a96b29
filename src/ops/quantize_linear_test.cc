// SPDX-License-Identifier: Apache-2.0
// quantize_linear, dequantize_linear, dynamic_quantize_linear.
#include <cmath>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

Tensor u8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::u8, std::move(sizes), values);
}

TEST(QuantizeLinear, one_scale_serves_all_elements) {
  const Tensor y = run_op("quantize_linear", {f32({6}, {0, 2, 3, 1000, -254, -1000}), f32({}, {2}), u8({}, {128})})[0];
  EXPECT_EQ(y.dtype, DType::u8);
  EXPECT_THAT(y.numbers(), near({128, 129, 130, 255, 1, 0}, 0));
}

TEST(QuantizeLinear, halves_go_to_the_even_number_before_the_zero_point_is_added) {
  EXPECT_THAT(numbers_of("quantize_linear", {f32({4}, {0.5, 1.5, 2.5, -0.5}), f32({}, {1}), u8({}, {3})}),
              near({3, 5, 5, 3}, 0));
}

TEST(QuantizeLinear, scales_may_differ_along_an_axis_or_by_block) {
  const Tensor x = f32({2, 3}, {2, 4, 6, 8, 10, 12});
  EXPECT_THAT(numbers_of("quantize_linear", {x, f32({3}, {1, 2, 3}), u8({3}, {0, 1, 2})}), near({2, 3, 4, 8, 6, 6}, 0));
  EXPECT_THAT(numbers_of("quantize_linear", {x, f32({2}, {1, 2})}, {{"axis", int64_t{-2}}}),
              near({2, 4, 6, 4, 5, 6}, 0));
  EXPECT_THAT(numbers_of("quantize_linear", {x, f32({2, 2}, {1, 2, 4, 6})}, {{"block_size", int64_t{2}}}),
              near({2, 4, 3, 2, 2, 2}, 0));
}

TEST(QuantizeLinear, every_type_saturates_at_its_own_range) {
  const Tensor x = f32({2}, {-1e9, 1e9});
  const auto range = [&](const char* dtype) {
    return numbers_of("quantize_linear", {x, f32({}, {1})}, {{"output_dtype", std::string(dtype)}});
  };
  EXPECT_THAT(range("i8"), near({-128, 127}, 0));
  EXPECT_THAT(range("i16"), near({-32768, 32767}, 0));
  EXPECT_THAT(range("u16"), near({0, 65535}, 0));
  EXPECT_THAT(range("i4"), near({-8, 7}, 0));
  EXPECT_THAT(range("u4"), near({0, 15}, 0));
  EXPECT_THAT(range("i2"), near({-2, 1}, 0));
  EXPECT_THAT(range("u2"), near({0, 3}, 0));
  EXPECT_THAT(range("f8e4m3"), near({-448, 448}, 0));
  EXPECT_THAT(range("f4e2m1"), near({-6, 6}, 0));
  EXPECT_TRUE(std::isnan(numbers_of("quantize_linear", {x, f32({}, {1})},
                                    {{"output_dtype", std::string("f8e4m3")}, {"saturate", false}})[0]));
}

TEST(QuantizeLinear, a_scale_of_zero_and_no_number_have_results) {
  EXPECT_THAT(numbers_of("quantize_linear", {f32({3}, {1, 0, NAN}), f32({}, {0}), u8({}, {7})}), near({255, 7, 7}, 0));
}

TEST(QuantizeLinear, what_does_not_fit_is_refused) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(refusal("quantize_linear", {x, f32({2}, {1, 2})}),
            "dimension 0 of y_scale f32[2] is 2, but dimension 1 of x f32[2, 3] is 3");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({3}, {1, 2, 3}), u8({2}, {1, 2})}),
            "y_scale f32[3] and y_zero_point u8[2] should have the same shape");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({3}, {1, 2, 3})}, {{"axis", int64_t{2}}}),
            "x f32[2, 3] has no dimension 2");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"block_size", int64_t{2}}}),
            "dimension 1 of y_scale f32[2, 3] should be 2 (the blocks of the axis)");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({}, {1})}, {{"block_size", int64_t{-2}}}),
            "block_size is -2 and should not be negative");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({}, {1}), i32({}, {0})}),
            "i32 is no type that numbers are quantised to");
  EXPECT_EQ(refusal("quantize_linear", {x, f32({}, {1}), u8({}, {0})}, {{"output_dtype", std::string("i8")}}),
            "output_dtype is i8, but y_zero_point u8[] is not of that type");
  EXPECT_EQ(refusal("quantize_linear", {x, u8({}, {1})}), "y_scale u8[] should be f32, f64, f16, bf16 or i32");
}

TEST(DequantizeLinear, the_zero_point_is_taken_off) {
  EXPECT_THAT(numbers_of("dequantize_linear", {u8({4}, {0, 3, 128, 255}), f32({}, {2}), u8({}, {128})}),
              near({-256, -250, 0, 254}, 0));
  EXPECT_THAT(numbers_of("dequantize_linear", {i32({2}, {3, -7}), f32({1}, {0.5})}), near({1.5, -3.5}, 0));
  EXPECT_THAT(numbers_of("dequantize_linear", {u8({2, 2}, {1, 2, 3, 4}), f32({2}, {1, 10})}, {{"axis", int64_t{0}}}),
              near({1, 2, 30, 40}, 0));
  EXPECT_THAT(numbers_of("dequantize_linear", {Tensor::of(DType::i4, {3}, {-8, 0, 7}), f32({2}, {1, 2})},
                         {{"block_size", int64_t{2}}}),
              near({-8, 0, 14}, 0));
}

TEST(DequantizeLinear, the_result_has_the_scales_type_or_the_one_asked_for) {
  const Tensor half = Tensor::of(DType::f16, {}, {0.1});
  EXPECT_EQ(run_op("dequantize_linear", {u8({1}, {3}), half})[0].dtype, DType::f16);
  const Tensor wide = run_op("dequantize_linear", {u8({1}, {3}), half}, {{"output_dtype", std::string("f32")}})[0];
  EXPECT_EQ(wide.dtype, DType::f32);
  EXPECT_THAT(wide.numbers(), near({3 * 0.0999755859375}, 1e-8));
  EXPECT_EQ(run_op("dequantize_linear", {u8({1}, {3}), Tensor::of(DType::f8e8m0, {}, {4})})[0].dtype, DType::f32);
}

TEST(DequantizeLinear, what_does_not_fit_is_refused) {
  EXPECT_EQ(refusal("dequantize_linear", {f32({1}, {1}), f32({}, {1})}),
            "x f32[1] is of no type that numbers are quantised to");
  EXPECT_EQ(refusal("dequantize_linear", {u8({1}, {1}), f32({}, {1}), i32({}, {0})}),
            "x u8[1] and x_zero_point i32[] should have one element type");
}

TEST(DynamicQuantizeLinear, the_range_of_the_elements_sets_scale_and_zero_point) {
  const auto results = run_op("dynamic_quantize_linear", {f32({6}, {0, 2, -3, -2.5, 1.34, 0.5})});
  EXPECT_THAT(results[0].numbers(), near({153, 255, 0, 26, 221, 179}, 0));
  EXPECT_THAT(results[1].numbers(), near({5.0 / 255}, 1e-8));
  EXPECT_THAT(results[2].numbers(), near({153}, 0));
}

TEST(DynamicQuantizeLinear, nothing_and_zeros_have_the_scale_one) {
  EXPECT_THAT(run_op("dynamic_quantize_linear", {f32({2}, {0, 0})})[1].numbers(), near({1}, 0));
  EXPECT_THAT(run_op("dynamic_quantize_linear", {f32({0}, {})})[1].numbers(), near({1}, 0));
  EXPECT_EQ(run_op("dynamic_quantize_linear", {f32({2}, {NAN, INFINITY})})[0].sizes.size(), 1u);
  EXPECT_EQ(refusal("dynamic_quantize_linear", {i32({1}, {1})}), "x i32[1] should be f32");
}

}  // namespace
}  // namespace nereid::ops
