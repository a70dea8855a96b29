// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kX = f32({2, 2}, {1, 2, 3, 4});
const Tensor kW = f32({3, 2}, {1, 0, 0, 1, 1, 1});

TEST(Linear, rows_of_the_weight_are_dotted_with_rows_of_x) {
  EXPECT_THAT(numbers_of("linear", {kX, kW}), near({1, 2, 3, 3, 4, 7}, 0));
}

TEST(Linear, bias_and_residual_are_added) {
  const Tensor bias = f32({3}, {10, 20, 30});
  const Tensor residual = f32({2, 3}, {100, 200, 300, 400, 500, 600});
  EXPECT_THAT(numbers_of("linear", {kX, kW, bias, residual}), near({111, 222, 333, 413, 524, 637}, 0));
  EXPECT_THAT(numbers_of("linear", {kX, kW, absent(), residual}), near({101, 202, 303, 403, 504, 607}, 0));
}

TEST(Linear, a_norm_weight_normalises_x_first) {
  // Row [3, 4]: root mean square sqrt(12.5).
  const auto y =
      numbers_of("linear", {f32({1, 2}, {3, 4}), kW, absent(), absent(), f32({2}, {1, 2})}, {{"norm_eps", 0.0}});
  EXPECT_THAT(y, near({0.8485281374, 2.2627416998, 3.1112698372}));
}

TEST(Linear, an_activation_comes_before_the_residual) {
  const Tensor bias = f32({3}, {-2, 0, -100});
  const Tensor residual = f32({2, 3}, {10, 20, 30, 40, 50, 60});
  EXPECT_THAT(numbers_of("linear", {kX, kW, bias, residual}, {{"activation", "relu"}}),
              near({10, 22, 30, 41, 54, 60}, 0));
  EXPECT_THAT(refusal("linear", {kX, kW}, {{"activation", "sine"}}), testing::HasSubstr("sine"));
}

TEST(Linear, block_format_weights_are_decoded) {
  std::vector<double> x(32, 1), w(32, 0);
  w[3] = 127;
  w[4] = -127;
  w[5] = 1;
  EXPECT_THAT(numbers_of("linear", {f32({1, 32}, x), Tensor::of(DType::q8_0, {1, 32}, w)}), near({1}, 1e-6));
}

TEST(Linear, no_rows_give_no_rows) {
  EXPECT_TRUE(numbers_of("linear", {f32({0, 2}, {}), kW}).empty());
}

TEST(Linear, sizes_that_do_not_fit_are_named_with_both_types) {
  EXPECT_EQ(refusal("linear", {kX, f32({1, 3}, {1, 2, 3})}),
            "dimension 1 of x f32[2, 2] is 2, but dimension 1 of w f32[1, 3] is 3");
  EXPECT_EQ(refusal("linear", {kX, kW, f32({2}, {1, 2})}),
            "dimension 0 of w f32[3, 2] is 3, but dimension 0 of bias f32[2] is 2");
  EXPECT_EQ(refusal("linear", {kX, kW, absent(), kX}),
            "residual f32[2, 2] should have the type of the result, f32[2, 3]");
  EXPECT_EQ(refusal("linear", {kX, kW, absent(), absent(), f32({1}, {1})}),
            "dimension 1 of x f32[2, 2] is 2, but dimension 0 of norm_weight f32[1] is 1");
}

TEST(Linear, the_tokens_stay_symbolic) {
  const auto y = infer_types("linear", {{DType::f32, {symbol("tokens"), 64}}, {DType::q4_1, {96, 64}}});
  ASSERT_TRUE(y.is_ok());
  EXPECT_EQ((*y)[0].to_string(), "f32[tokens, 96]");
}

TEST(Linear, the_cost_counts_packed_weight_bytes) {
  const TensorType x{DType::f32, {1, 64}};
  const TensorType w{DType::q4_0, {32, 64}};
  const std::vector<const TensorType*> types{&x, &w, nullptr, nullptr, nullptr};
  const std::vector<const ConstTensorView*> constants(5, nullptr);
  const Attrs attrs;
  const std::vector<TensorType> y{{DType::f32, {1, 32}}};
  const Cost cost = find_op("linear")->cost({.inputs = types, .constants = constants, .attrs = attrs}, y);
  EXPECT_EQ(cost.flops, 2 * 32 * 64);
  EXPECT_EQ(cost.bytes_read, 64 * 4 + 32 * 64 / 32 * 18);
  EXPECT_EQ(cost.bytes_written, 32 * 4);
}

}  // namespace
}  // namespace nereid::ops
