// SPDX-License-Identifier: Apache-2.0
// Ifs whose condition is known, and graphs inside nodes.
#include <gtest/gtest.h>

#include "graph/evaluate.h"
#include "passes/pipeline.h"

namespace nereid::passes {
namespace {

using graph::Graph;
using graph::ValueId;

const ops::TensorType kRow{DType::f32, {4}};

std::shared_ptr<const Graph> branch(std::string_view op) {
  auto g = std::make_shared<Graph>("branch");
  const ValueId x = g->add_input("x", kRow);
  ValueId y = *g->add("exp", {x}, {}, "inner");
  y = *g->add(op, {y}, {}, "result");
  g->add_output(y);
  return g;
}

// y = if(condition) sigmoid(e^x) else neg(e^x)
Graph with_if(bool known) {
  Graph g;
  const ValueId x = g.add_input("x", kRow);
  const ValueId condition = known ? g.add_constant("c", ops::Tensor::of(DType::boolean, {}, {1}))
                                  : g.add_input("c", {DType::boolean, Shape()});
  auto y = g.add_node("if", {condition, x}, {{"captures", int64_t{1}}}, {"y"}, {branch("sigmoid"), branch("neg")});
  EXPECT_TRUE(y.is_ok()) << y.status().message();
  g.add_output((*y)[0]);
  return g;
}

std::vector<double> run(const Graph& g, double condition) {
  std::map<std::string, ops::Datum, std::less<>> inputs;
  inputs["x"] = ops::Tensor::of(DType::f32, {4}, {-1, 0, 1, 2});
  inputs["c"] = ops::Tensor::of(DType::boolean, {}, {condition});
  auto y = graph::evaluate_any(g, inputs);
  EXPECT_TRUE(y.is_ok()) << y.status().message();
  return (*y)[0].tensor.numbers();
}

TEST(InlineIf, the_branch_of_a_known_condition_takes_the_place_of_the_if) {
  const Graph before = with_if(true);
  Graph after = before;
  ASSERT_TRUE(run_network_pipeline(after, {.verify = true}).is_ok());
  ASSERT_EQ(after.order().size(), 1u);
  EXPECT_EQ(after.node(after.order()[0]).op->name, "program");
  EXPECT_EQ(after.value(after.outputs()[0]).name, "y");
  const auto a = run(before, 1), b = run(after, 1);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(InlineIf, branches_that_stay_are_optimised_inside) {
  const Graph before = with_if(false);
  Graph after = before;
  ASSERT_TRUE(run_network_pipeline(after, {.verify = true}).is_ok());
  ASSERT_EQ(after.order().size(), 1u);
  const graph::Node& node = after.node(after.order()[0]);
  EXPECT_EQ(node.op->name, "if");
  for (const auto& region : node.regions) EXPECT_EQ(region->order().size(), 1u);
  for (double condition : {0.0, 1.0}) {
    const auto a = run(before, condition), b = run(after, condition);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
  }
}

}  // namespace
}  // namespace nereid::passes
