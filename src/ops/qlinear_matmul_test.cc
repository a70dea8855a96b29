// SPDX-License-Identifier: Apache-2.0
// Products and convolutions of quantised tensors.
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

Tensor u8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::u8, std::move(sizes), values);
}
Tensor i8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return Tensor::of(DType::i8, std::move(sizes), values);
}

TEST(MatmulInteger, zero_points_are_taken_off) {
  const Tensor a = u8({2, 3}, {11, 7, 3, 10, 6, 2});
  const Tensor b = u8({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor y = run_op("matmul_integer", {a, b, u8({1}, {12}), u8({1}, {0})})[0];
  EXPECT_EQ(y.dtype, DType::i32);
  EXPECT_THAT(y.numbers(), near({-38, -83, -44, -98}, 0));
  EXPECT_THAT(numbers_of("matmul_integer", {a, b}), near({34, 97, 28, 82}, 0));
}

TEST(MatmulInteger, rows_and_columns_may_have_their_own) {
  const Tensor a = i8({2, 2}, {1, 2, 3, 4});
  const Tensor b = i8({2, 2}, {5, 6, 7, 8});
  // [[0, 1], [1, 2]] times [[0, 5], [2, 7]]
  const std::vector<double> expected = {2, 7, 4, 19};
  EXPECT_THAT(numbers_of("matmul_integer", {a, b, i8({2}, {1, 2}), i8({2}, {5, 1})}), near(expected, 0));
  EXPECT_THAT(numbers_of("matmul_integer", {a, b, i8({2, 1}, {1, 2}), i8({1, 2}, {5, 1})}), near(expected, 0));
}

TEST(MatmulInteger, vectors_are_rows_and_columns) {
  const Tensor y = run_op("matmul_integer", {u8({2}, {1, 2}), u8({2, 2}, {1, 2, 3, 4})})[0];
  EXPECT_EQ(y.sizes, (std::vector<int64_t>{2}));
  EXPECT_THAT(y.numbers(), near({7, 10}, 0));
  EXPECT_THAT(numbers_of("matmul_integer", {u8({2, 2}, {1, 2, 3, 4}), u8({2}, {1, 2}), u8({2}, {1, 3})}),
              near({2, 2}, 0));
  EXPECT_THAT(numbers_of("matmul_integer", {u8({2}, {1, 2}), u8({2}, {3, 4})}), near({11}, 0));
}

TEST(MatmulInteger, what_does_not_fit_is_refused) {
  const Tensor a = u8({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(refusal("matmul_integer", {a, i32({3, 1}, {1, 2, 3})}), "b i32[3, 1] should be i8 or u8");
  EXPECT_EQ(refusal("matmul_integer", {a, u8({2, 1}, {1, 2})}),
            "dimension 1 of a u8[2, 3] is 3, but dimension 0 of b u8[2, 1] is 2");
  EXPECT_EQ(refusal("matmul_integer", {a, u8({3, 1}, {1, 2, 3}), u8({3}, {1, 2, 3})}),
            "a_zero_point u8[3] should be one number or have one for each row of a u8[2, 3]");
  EXPECT_EQ(refusal("matmul_integer", {a, u8({3, 1}, {1, 2, 3}), i8({}, {1})}),
            "a u8[2, 3] and a_zero_point i8[] should have one element type");
}

TEST(QlinearMatmul, the_result_is_scaled_and_rounded) {
  const Tensor a = u8({2, 4}, {208, 236, 0, 238, 3, 214, 255, 29});
  const Tensor b = u8({4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247});
  EXPECT_THAT(numbers_of("qlinear_matmul", {a, f32({1}, {0.0066}), u8({1}, {113}), b, f32({1}, {0.00705}),
                                            u8({1}, {114}), f32({1}, {0.0107}), u8({1}, {118})}),
              near({168, 115, 255, 1, 66, 151}, 0));
}

TEST(QlinearMatmul, rows_and_columns_may_have_their_own_scales) {
  const Tensor a = i8({2, 2}, {1, 2, 3, 4});
  const Tensor b = i8({2, 2}, {1, 0, 0, 1});
  EXPECT_THAT(numbers_of("qlinear_matmul", {a, f32({2}, {1, 2}), i8({2}, {0, 0}), b, f32({2}, {1, 10}), i8({2}, {0, 0}),
                                            f32({}, {1}), i8({}, {1})}),
              near({2, 21, 7, 81}, 0));
  // A vector on the right leaves out the dimension that the rows' scales have beside them.
  EXPECT_THAT(numbers_of("qlinear_matmul", {a, f32({2}, {1, 2}), i8({2}, {0, 0}), i8({2}, {1, 1}), f32({}, {1}),
                                            i8({}, {0}), f32({}, {1}), i8({}, {0})}),
              near({3, 14}, 0));
}

TEST(QlinearMatmul, f8_is_multiplied_too) {
  const auto f8 = [](std::vector<int64_t> sizes, const std::vector<double>& values) {
    return Tensor::of(DType::f8e4m3, std::move(sizes), values);
  };
  EXPECT_THAT(numbers_of("qlinear_matmul", {f8({1, 2}, {1.5, 2}), f32({}, {1}), f8({}, {0}), f8({2, 1}, {2, 4}),
                                            f32({}, {1}), f8({}, {0}), f32({}, {2}), f8({}, {0})}),
              near({5.5}, 0));
}

TEST(ConvInteger, padding_counts_as_the_zero_point) {
  const Tensor x = u8({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor w = u8({1, 1, 2, 2}, {1, 1, 1, 1});
  EXPECT_THAT(numbers_of("conv_integer", {x, w, u8({}, {1})}), near({12, 16, 24, 28}, 0));
  EXPECT_THAT(numbers_of("conv_integer", {x, w, u8({}, {1})}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}),
              near({1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}, 0));
}

TEST(ConvInteger, output_channels_may_have_their_own_zero_points) {
  const Tensor x = u8({1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = i8({2, 1, 1}, {2, 3});
  EXPECT_THAT(numbers_of("conv_integer", {x, w, absent(), i8({2}, {1, -1})}, {{"group", int64_t{2}}}),
              near({1, 2, 12, 16}, 0));
  EXPECT_EQ(refusal("conv_integer", {x, w, absent(), i8({3}, {1, 1, 1})}, {{"group", int64_t{2}}}),
            "dimension 0 of w_zero_point i8[3] is 3, but dimension 0 of w i8[2, 1, 1] is 2");
  EXPECT_EQ(refusal("conv_integer", {x, w}, {{"group", int64_t{0}}}), "group is 0; it should be at least 1");
  EXPECT_EQ(refusal("conv_integer", {x, w}),
            "x u8[1, 2, 2] has 2 channels in 1 groups, so w i8[2, 1, 1] should have 2 / 1 of them in dimension 1");
}

TEST(QlinearConv, channels_have_their_own_scales_and_a_bias) {
  const Tensor x = u8({1, 1, 2}, {10, 20});
  const Tensor w = i8({2, 1, 1}, {2, 4});
  EXPECT_THAT(numbers_of("qlinear_conv", {x, f32({}, {0.5}), u8({}, {0}), w, f32({2}, {1, 0.25}), i8({2}, {0, 0}),
                                          f32({}, {1}), u8({}, {5}), i32({2}, {1, -40})}),
              near({15, 25, 5, 10}, 0));
  EXPECT_EQ(refusal("qlinear_conv",
                    {x, f32({}, {0.5}), u8({}, {0}), w, f32({3}, {1, 1, 1}), i8({}, {0}), f32({}, {1}), u8({}, {5})}),
            "dimension 0 of w_scale f32[3] is 3, but dimension 0 of w i8[2, 1, 1] is 2");
}

}  // namespace
}  // namespace nereid::ops
