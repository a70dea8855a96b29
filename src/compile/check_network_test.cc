// SPDX-License-Identifier: Apache-2.0
#include "compile/check_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "passes/pipeline.h"
#include "passes/quantize_layers.h"

namespace nereid::compile {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A product, a bias and an activation that fuse into one layer; a second product; an elementwise end.
constexpr std::string_view kText = R"(graph main {
  input %x: f32[2, 3]
  const %w1: f32[3, 2] = [1, 2, -3, 4, 5, -6]
  const %b1: f32[2] = [0.5, -0.5]
  const %w2: f32[2, 2] = [1, 0.5, 0.25, 1]
  %p: f32[2, 2] = matmul(%x, %w1)
  %s: f32[2, 2] = add(%p, %b1)
  %r: f32[2, 2] = relu(%s)
  %q: f32[2, 2] = matmul(%r, %w2)
  %y: f32[2, 2] = softmax(%q)
  output %y
})";

std::string with(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  NEREID_CHECK(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

OpenedNetwork opened(std::string_view text) {
  graph::Graph graph = graph::parse(text).value();
  EXPECT_TRUE(passes::run_network_pipeline(graph).is_ok());
  OpenedNetwork out;
  out.network = runtime::Network::create(std::move(graph), nullptr, best_isa(read_cpu_info()).value());
  return out;
}

class CheckNetwork : public testing::Test {
 protected:
  CheckReport check(std::string_view network, ValueSource& expected) {
    const OpenedNetwork checked = opened(network);
    Result<CheckReport> report =
        check_network({.network = checked, .plain = plain_, .inputs = inputs_, .tolerance = {}}, expected, pool_);
    EXPECT_TRUE(report.is_ok()) << report.status().message();
    return std::move(report).value();
  }
  const graph::Graph plain_ = graph::parse(kText).value();
  const NamedValues inputs_ = {{"x", ops::Tensor::of(DType::f32, {2, 3}, {1, 2, 3, -4, 5, 6})}};
  ThreadPool pool_{{.threads = 1}};
};

TEST_F(CheckNetwork, fused_layers_are_compared_under_the_name_of_their_last_result) {
  const auto reference = reference_values(plain_, nullptr);
  const CheckReport report = check(kText, *reference);
  std::vector<std::string> names;
  for (const CheckedValue& v : report.values) names.push_back(v.name);
  EXPECT_THAT(names, ElementsAre("r", "q", "y"));
  EXPECT_FALSE(report.first.has_value());
  EXPECT_THAT(report.find("r")->sources, ElementsAre("matmul %p", "add %s", "relu %r"));
  EXPECT_THAT(report.find("r")->inputs, IsEmpty());
  EXPECT_THAT(report.find("y")->inputs, ElementsAre("q"));
  EXPECT_EQ(report.find("r")->op, "dense");
  EXPECT_EQ(report.find("r")->kernel, "gemm");
  EXPECT_TRUE(report.find("y")->is_output);
}

TEST_F(CheckNetwork, the_first_layer_past_the_tolerance_is_the_one_whose_inputs_are_right) {
  const auto reference = reference_values(plain_, nullptr);
  const CheckReport report = check(with(std::string(kText), "[1, 0.5, 0.25, 1]", "[1.01, 0.5, 0.25, 1]"), *reference);
  ASSERT_TRUE(report.first.has_value());
  const CheckedValue& first = report.values[*report.first];
  EXPECT_EQ(first.name, "q");
  EXPECT_THAT(first.inputs, ElementsAre("r"));
  EXPECT_TRUE(report.find("r")->within);
  // By hand: %r is [10.5, 0], [11.5, 0], so that %q[1, 0] is 0.01 of 11.5 off.
  EXPECT_NEAR(first.difference.max_abs, 0.115, 1e-5);
}

TEST_F(CheckNetwork, a_network_is_compared_with_another_one) {
  const auto other =
      network_values(opened(with(std::string(kText), "[0.5, -0.5]", "[0.75, -0.5]")), "the other", pool_);
  const CheckReport report = check(kText, *other);
  ASSERT_TRUE(report.first.has_value());
  EXPECT_EQ(report.values[*report.first].name, "r");
}

TEST_F(CheckNetwork, codes_are_compared_as_the_numbers_they_stand_for) {
  graph::Graph graph = plain_;
  ASSERT_TRUE(passes::prepare_quantization(graph).is_ok());
  ASSERT_TRUE(passes::quantize_layers(graph, {"p", "q"}, {{"x", {-4, 6}}, {"r", {0, 12}}}).is_ok());
  ASSERT_TRUE(passes::run_network_pipeline(graph).is_ok());
  OpenedNetwork checked;
  checked.network = runtime::Network::create(std::move(graph), nullptr, best_isa(read_cpu_info()).value());
  const auto reference = reference_values(plain_, nullptr);
  const auto report = check_network(
      {.network = checked, .plain = plain_, .inputs = inputs_, .tolerance = {.relative = 0.02}}, *reference, pool_);
  ASSERT_TRUE(report.is_ok()) << report.status().message();
  const CheckedValue* r = report->find("r");
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->op, "dense_q");
  EXPECT_EQ(r->type, "u8[2, 2]");
  EXPECT_TRUE(r->within);
  EXPECT_GT(r->difference.max_abs, 1e-4);  // steps of 12 / 255
  EXPECT_LT(r->difference.max_abs, 0.2);
  EXPECT_THAT(report->find("q")->inputs, ElementsAre("r"));
}

TEST_F(CheckNetwork, an_output_without_counterpart_is_refused) {
  const OpenedNetwork checked = opened(kText);
  const auto other = network_values(opened(with(std::string(kText), "output %y", "output %q")), "the other", pool_);
  const auto report =
      check_network({.network = checked, .plain = plain_, .inputs = inputs_, .tolerance = {}}, *other, pool_);
  EXPECT_EQ(report.status().message(), "the network's output 'y' has no counterpart in the other");
}

}  // namespace
}  // namespace nereid::compile
