// SPDX-License-Identifier: Apache-2.0
// Operators on quantised tensors, those of com.microsoft above all.
#include "import/onnx/node_fixture.h"

namespace nereid::import::onnx {
namespace {

using Attrs = std::vector<std::pair<std::string, ops::AttrValue>>;
using Inputs = std::vector<std::optional<ops::Tensor>>;
using testing::HasSubstr;

ops::Tensor u8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return tensor_of(DType::u8, std::move(sizes), values);
}
ops::Tensor i8(std::vector<int64_t> sizes, const std::vector<double>& values) {
  return tensor_of(DType::i8, std::move(sizes), values);
}
ops::Tensor scale(double value) {
  return f32({}, {value});
}
std::vector<double> run(const char* op, Inputs inputs, Attrs attrs = {}) {
  return numbers_of(
      {.op = op, .version = 1, .inputs = std::move(inputs), .attrs = std::move(attrs), .domain = "com.microsoft"});
}

TEST(QuantizeLinear, a_type_of_0_is_none) {
  const ops::Tensor x = f32({2}, {-1, 2});
  const auto quantise = [&](int64_t dtype) {
    return run_node(
        {.op = "QuantizeLinear", .version = 21, .inputs = {x, scale(1)}, .attrs = {{"output_dtype", dtype}}});
  };
  EXPECT_EQ(quantise(0).dtype, DType::u8);
  EXPECT_EQ(quantise(3).dtype, DType::i8);
  EXPECT_THAT(quantise(3).numbers(), near({-1, 2}));
  EXPECT_EQ(run_node({.op = "DequantizeLinear",
                      .version = 23,
                      .inputs = {u8({1}, {2}), scale(1)},
                      .attrs = {{"output_dtype", int64_t{10}}}})
                .dtype,
            DType::f16);
}

TEST(Quantized, sums_and_products_are_those_of_the_real_numbers) {
  const Inputs inputs = {u8({2}, {10, 20}), scale(0.5),  u8({}, {0}), u8({1}, {4}),
                         scale(2),          u8({}, {2}), scale(1),    u8({}, {1})};
  EXPECT_THAT(run("QLinearAdd", inputs), near({10, 15}));
  EXPECT_THAT(run("QLinearMul", inputs), near({21, 41}));
}

TEST(Quantized, functions_may_leave_their_zero_points_out) {
  EXPECT_THAT(run("QLinearSigmoid", {u8({1}, {0}), scale(1), std::nullopt, scale(1.0 / 256)}), near({128}));
  EXPECT_THAT(run("QLinearLeakyRelu", {i8({2}, {-10, 10}), scale(1), std::nullopt, scale(0.5)}, {{"alpha", 0.1}}),
              near({-2, 20}));
  EXPECT_THAT(run("QLinearSoftmax", {u8({2}, {3, 3}), scale(1), std::nullopt, scale(1.0 / 256), u8({}, {0})},
                  {{"opset", int64_t{13}}}),
              near({128, 128}));
}

TEST(Quantized, pools_may_have_channels_last) {
  const ops::Tensor x = u8({1, 2, 2, 1}, {1, 2, 3, 6});
  const Inputs inputs = {x, scale(1), u8({}, {0}), scale(0.5), u8({}, {0})};
  EXPECT_THAT(run("QLinearGlobalAveragePool", inputs, {{"channels_last", int64_t{1}}}), near({6}));
  EXPECT_THAT(run("QLinearGlobalAveragePool", inputs), near({3, 9}));
  EXPECT_THAT(
      run("QLinearAveragePool", inputs, {{"channels_last", int64_t{1}}, {"kernel_shape", std::vector<int64_t>{2, 1}}}),
      near({4, 8}));
}

TEST(Quantized, parts_of_several_scales_are_joined) {
  EXPECT_THAT(run("QLinearConcat",
                  {scale(1), u8({}, {0}), u8({1}, {4}), scale(0.5), u8({}, {0}), u8({1}, {3}), scale(2), u8({}, {0})},
                  {{"axis", int64_t{0}}}),
              near({2, 6}));
  EXPECT_THAT(refusal({.op = "QLinearConcat",
                       .version = 1,
                       .inputs = {scale(1), u8({}, {0}), u8({1}, {4}), scale(0.5)},
                       .attrs = {{"axis", int64_t{0}}},
                       .domain = "com.microsoft"}),
              HasSubstr("it has 4 inputs and should have 2 and 3 for each part"));
}

TEST(Quantized, a_choice_and_a_mean_are_quantised_again) {
  EXPECT_THAT(run("QLinearWhere", {tensor_of(DType::boolean, {2}, {1, 0}), u8({2}, {1, 2}), scale(1), u8({}, {0}),
                                   u8({2}, {3, 4}), scale(2), u8({}, {0}), scale(1), u8({}, {0})}),
              near({1, 8}));
  EXPECT_THAT(run("QLinearReduceMean", {u8({2, 2}, {1, 3, 5, 7}), scale(1), u8({}, {0}), scale(1), u8({}, {0})},
                  {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}}),
              near({2, 6}));
}

TEST(Quantized, products_become_real) {
  const ops::Tensor a = u8({1, 2}, {3, 5});
  const ops::Tensor b = i8({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(
      run("MatMulIntegerToFloat", {a, b, scale(0.5), f32({2}, {1, 2}), u8({}, {1}), std::nullopt, f32({2}, {1, 1})}),
      near({8, 21}));
  EXPECT_THAT(run("DynamicQuantizeMatMul", {f32({1, 2}, {0, 255}), b, scale(1)}), near({765, 1020}));
}

TEST(Quantized, gemm_stays_real_without_a_scale_for_the_result) {
  const Inputs inputs = {u8({1, 2}, {3, 5}),
                         scale(1),
                         u8({}, {0}),
                         i8({2, 2}, {1, 2, 3, 4}),
                         scale(0.5),
                         i8({}, {0}),
                         tensor_of(DType::i32, {2}, {1, 2})};
  EXPECT_THAT(run("QGemm", inputs), near({9.5, 14}));
  Inputs more = inputs;
  more.push_back(scale(2));
  more.push_back(u8({}, {1}));
  EXPECT_THAT(run("QGemm", more), near({6, 8}));
  EXPECT_THAT(run("QGemm", inputs, {{"transB", int64_t{1}}}), near({7, 15.5}));
}

TEST(Quantized, convolutions_may_have_channels_last) {
  EXPECT_THAT(run("QLinearConv",
                  {u8({1, 1, 2, 1}, {1, 2}), scale(1), u8({}, {0}), i8({2, 1, 1, 1}, {1, 3}), scale(1), i8({}, {0}),
                   scale(1), u8({}, {0})},
                  {{"channels_last", int64_t{1}}}),
              near({1, 3, 2, 6}));
}

TEST(FusedMatmul, transpositions_and_a_factor_are_inside) {
  const ops::Tensor a = f32({2, 1}, {1, 2});
  const ops::Tensor b = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(run("FusedMatMul", {a, b}, {{"transA", int64_t{1}}, {"alpha", 0.5}}), near({3.5, 5}));
  EXPECT_THAT(run("FusedMatMul", {b, a}, {{"transA", int64_t{1}}}), near({7, 10}));
}

TEST(Qattention, without_masks_equal_keys_give_the_mean_of_the_values) {
  // Two steps of one number, one head of size 1: q = k = 0 * x, v = 2 * x.
  const ops::Tensor x = u8({1, 2, 1}, {1, 3});
  const ops::Tensor w = i8({1, 3}, {0, 0, 2});
  const Inputs inputs = {x, w, f32({3}, {0, 0, 0}), scale(1), scale(1)};
  EXPECT_THAT(run("QAttention", inputs, {{"num_heads", int64_t{1}}}), near({4, 4}));
  EXPECT_THAT(run("QAttention", inputs, {{"num_heads", int64_t{1}}, {"unidirectional", int64_t{1}}}), near({2, 4}));
  // One step before: its value is 7.
  Inputs later = inputs;
  later.resize(8);
  later.push_back(f32({2, 1, 1, 1, 1}, {0, 7}));
  EXPECT_THAT(run("QAttention", later, {{"num_heads", int64_t{1}}}), near({5, 5}));
  Inputs masked = inputs;
  masked.push_back(tensor_of(DType::i32, {1}, {1}));
  EXPECT_THAT(run("QAttention", masked, {{"num_heads", int64_t{1}}}), near({2, 2}));
}

// The numbers are onnxruntime's.
TEST(MatMulNBits, blocks_of_a_row_share_scale_and_zero_point) {
  const Attrs attrs = {{"N", int64_t{2}}, {"K", int64_t{20}}, {"block_size", int64_t{16}}, {"bits", int64_t{4}}};
  const ops::Tensor ones = f32({1, 20}, std::vector<double>(20, 1));
  // Rows of two blocks of 16; codes 8 and 9 in each byte, of the second row 7 and 8.
  std::vector<double> bytes(32, 0x98);
  std::fill(bytes.begin() + 16, bytes.end(), 0x87);
  const ops::Tensor b = u8({2, 2, 8}, bytes), scales = f32({2, 2}, {1, 10, 2, 20});
  OneNode node{
      .op = "MatMulNBits", .version = 1, .inputs = {ones, b, scales}, .attrs = attrs, .domain = "com.microsoft"};
  EXPECT_THAT(refusal(node), HasSubstr("B should be a constant"));
  node.constant = {1, 3};
  EXPECT_THAT(numbers_of(node), near({8 + 2 * 10, -8 * 2 - 2 * 20}));
  node.inputs.push_back(u8({2, 1}, {0x79, 0x88}));  // 9 and 7, 8 and 8
  EXPECT_THAT(numbers_of(node), near({-8 + (1 + 2 + 1 + 2) * 10, -8 * 2 - 2 * 20}));
  node.inputs[3] = f32({2, 2}, {9, 7, 8, 8});
  EXPECT_THAT(numbers_of(node), near({-8 + (1 + 2 + 1 + 2) * 10, -8 * 2 - 2 * 20}));
  node.inputs[1] = u8({2, 1, 8}, std::vector<double>(16, 0));
  EXPECT_THAT(refusal(node), HasSubstr("B has 16 bytes"));
}

TEST(GatherBlockQuantized, takes_rows_and_their_scales) {
  OneNode node{
      .op = "GatherBlockQuantized",
      .version = 1,
      .inputs = {u8({2, 8}, std::vector<double>(16, 0xa9)), tensor_of(DType::i64, {1}, {-1}), f32({2, 1}, {1, 3})},
      .attrs = {{"block_size", int64_t{16}}, {"bits", int64_t{4}}},
      .domain = "com.microsoft",
      .constant = {0}};
  EXPECT_THAT(numbers_of(node), near({3, 6, 3, 6, 3, 6, 3, 6, 3, 6, 3, 6, 3, 6, 3, 6}));
}

TEST(FusedGemm, ends_with_the_activation_it_names) {
  const Inputs inputs = {f32({1, 2}, {1, 2}), f32({2, 2}, {1, -1, 1, -1}), f32({2}, {1, 1})};
  EXPECT_THAT(run("FusedGemm", inputs, {{"activation", std::string("Relu")}}), near({4, 0}));
  EXPECT_THAT(run("FusedGemm", inputs, {{"activation", std::string("LeakyRelu")}, {"activation_alpha", 0.5}}),
              near({4, -1}));
  EXPECT_THAT(refusal({.op = "FusedGemm",
                       .version = 1,
                       .inputs = inputs,
                       .attrs = {{"activation", std::string("Selu")}},
                       .domain = "com.microsoft"}),
              HasSubstr("'Selu' is none of"));
}

TEST(GroupNorm, has_channels_last_and_may_end_with_silu) {
  const Inputs inputs = {f32({1, 1, 2, 2}, {-1, 5, 1, 5}), f32({2}, {1, 1}), f32({2}, {0, 7})};
  EXPECT_THAT(run("GroupNorm", inputs, {{"groups", int64_t{2}}, {"activation", int64_t{0}}, {"epsilon", 0.0}}),
              testing::ElementsAre(-1, testing::_, 1, testing::_));
  EXPECT_NEAR(run("GroupNorm", {f32({1, 1, 2, 1}, {-1, 1}), f32({1}, {1}), f32({1}, {0})},
                  {{"groups", int64_t{1}}, {"activation", int64_t{1}}})[1],
              0.7310, 1e-3);
}

TEST(BiasSplitGelu, the_second_half_gates_the_first) {
  EXPECT_THAT(run("BiasSplitGelu", {f32({1, 1, 2}, {2, 0}), f32({2}, {1, 1})}), near({3 * 0.8413447}));
  EXPECT_THAT(run("BiasAdd", {f32({1, 1, 2}, {2, 0}), f32({2}, {1, 1}), f32({1, 1, 2}, {10, 20})}), near({13, 21}));
}

}  // namespace
}  // namespace nereid::import::onnx
