// SPDX-License-Identifier: Apache-2.0
#include "passes/quantize_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "graph/verify.h"

namespace nereid::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A convolution with a batch normalisation that folds into it, a sum with its input, and a product.
constexpr std::string_view kText = R"(graph main {
  input %x: f32[1, 2, 2, 2]
  const %w: f32[2, 2, 1, 1] = [1, -2, 3, 4]
  const %s: f32[2] = [2, 0.5]
  const %b: f32[2] = [0, 0]
  const %m: f32[2] = [0, 0]
  const %v: f32[2] = [1, 1]
  const %w2: f32[2, 2] = [1, 0.5, -1, 0.25]
  %c: f32[1, 2, 2, 2] = conv(%x, %w)
  %n: f32[1, 2, 2, 2] = batch_normalization(%c, %s, %b, %m, %v) {epsilon=0.0}
  %a: f32[1, 2, 2, 2] = add(%n, %x)
  %y: f32[1, 2, 2, 2] = matmul(%a, %w2)
  output %y
})";

graph::Graph prepared() {
  graph::Graph graph = graph::parse(kText).value();
  const auto report = prepare_quantization(graph);
  EXPECT_TRUE(report.is_ok()) << report.status().message();
  return graph;
}

std::vector<double> run(const graph::Graph& graph, const std::vector<double>& x) {
  const auto outputs = graph::evaluate_any(graph, {{"x", ops::Tensor::of(DType::f32, {1, 2, 2, 2}, x)}});
  EXPECT_TRUE(outputs.is_ok()) << outputs.status().message();
  return (*outputs)[0].tensor.numbers();
}

const std::vector<double> kX = {1, -1, 0.5, 0.25, 2, 0, -0.75, 1.5};

TEST(QuantizeLayers, layers_are_those_after_scales_have_gone_into_weights) {
  const graph::Graph graph = prepared();
  const auto layers = quantizable_layers(graph);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].name, "n");
  EXPECT_EQ(layers[0].activation, "x");
  EXPECT_TRUE(layers[0].is_conv);
  EXPECT_EQ(layers[1].name, "y");
  EXPECT_EQ(layers[1].activation, "a");
}

TEST(QuantizeLayers, weights_and_activations_become_codes_that_are_dequantised) {
  graph::Graph graph = prepared();
  ASSERT_TRUE(quantize_layers(graph, {"n", "y"}, {{"x", {-1, 2}}, {"a", {-8, 12}}}).is_ok());
  ASSERT_TRUE(graph::verify(graph).is_ok());
  const std::string text = graph::print(graph, {.inline_elements = 8, .all_attributes = false});
  // Folded weights are 2, -4 and 1.5, 2: scales 4 / 127 and 2 / 127; the second matrix by columns: 1 / 127, 0.5 / 127.
  EXPECT_THAT(text, HasSubstr("i8[2, 2, 1, 1] = [64, -127, 95, 127]"));
  EXPECT_THAT(text, HasSubstr("i8[2, 2] = [127, 127, -127, 64]"));
  // 3 / 255 a step, and zero is step 85.
  EXPECT_THAT(text, HasSubstr("const %x.zero: u8[] = [85]"));
  EXPECT_THAT(text, HasSubstr("%x.u8: u8[1, 2, 2, 2] = quantize_linear(%x, %x.scale, %x.zero)"));
  // The sum reads what the convolution reads.
  EXPECT_THAT(text, HasSubstr("add(%n, %x.real)"));
  const std::vector<double> exact = run(prepared(), kX), now = run(graph, kX);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(now[i], exact[i], 0.15) << i;
  EXPECT_NE(now, exact);
}

TEST(QuantizeLayers, only_chosen_layers_are_touched) {
  graph::Graph graph = prepared();
  ASSERT_TRUE(quantize_layers(graph, {"y"}, {{"a", {-8, 12}}}).is_ok());
  EXPECT_THAT(graph::print(graph), HasSubstr("conv(%x,"));
  EXPECT_EQ(quantizable_layers(graph).size(), 1u);
  graph::Graph untouched = prepared();
  const std::string before = graph::print(untouched);
  ASSERT_TRUE(quantize_layers(untouched, {}, {}).is_ok());
  EXPECT_EQ(graph::print(untouched), before);
}

TEST(QuantizeLayers, a_convolution_without_a_range_is_refused) {
  graph::Graph graph = prepared();
  const Status status = quantize_layers(graph, {"n"}, {});
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("says nothing of 'x'"));
}

TEST(QuantizeLayers, products_without_a_range_take_that_of_the_run) {
  graph::Graph graph = prepared();
  ASSERT_TRUE(quantize_layers(graph, {"y"}, {}).is_ok());
  EXPECT_THAT(graph::print(graph), HasSubstr("dynamic_quantize_linear(%a)"));
  const std::vector<double> exact = run(prepared(), kX), now = run(graph, kX);
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(now[i], exact[i], 0.15) << i;
  ASSERT_TRUE(run_network_pipeline(graph).is_ok());
  EXPECT_THAT(graph::print(graph), HasSubstr("dense_q("));
  const std::vector<double> after = run(graph, kX);
  for (size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(after[i], now[i], 1e-4) << i;
}

TEST(QuantizeLayers, the_passes_of_networks_make_int8_layers_of_them) {
  graph::Graph graph = prepared();
  ASSERT_TRUE(quantize_layers(graph, {"n", "y"}, {{"x", {-1, 2}}, {"a", {-8, 12}}}).is_ok());
  const std::vector<double> before = run(graph, kX);
  const auto report = run_network_pipeline(graph);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  SCOPED_TRACE(report->to_text());
  const std::string text = graph::print(graph);
  EXPECT_THAT(text, HasSubstr("conv_last_q("));
  EXPECT_THAT(text, HasSubstr("dense_q("));
  const std::vector<double> after = run(graph, kX);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-4) << i;
}

}  // namespace
}  // namespace nereid::passes
