// SPDX-License-Identifier: Apache-2.0
#include "graph/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace nereid::graph {
namespace {

using ops::Tensor;
using testing::ElementsAre;

const Tensor kX = Tensor::of(DType::f32, {2, 2}, {1, 2, 3, 4});

Graph must_parse(std::string_view text) {
  auto g = parse(text);
  EXPECT_TRUE(g.is_ok()) << g.status().message();
  return std::move(g).value();
}

TEST(Evaluate, outputs_come_in_order_with_symbols_bound) {
  const Graph g = must_parse(R"(graph g {
    input %x: f32[tokens, 2]
    const %w: f32[1, 2] = [1, 10]
    %y = linear(%x, %w)
    %z = neg(%y)
    output %z, %x
  })");
  auto out = evaluate(g, {.inputs = {{"x", kX.view()}}});
  ASSERT_TRUE(out.is_ok()) << out.status().message();
  EXPECT_EQ((*out)[0].sizes, (std::vector<int64_t>{2, 1}));
  EXPECT_THAT((*out)[0].numbers(), ElementsAre(-21, -43));
  EXPECT_THAT((*out)[1].numbers(), ElementsAre(1, 2, 3, 4));
}

TEST(Evaluate, constants_in_parts_are_joined_and_missing_ones_bound_by_name) {
  Graph g;
  const ValueId x = g.add_input("x", {DType::f32, {2, 2}});
  const Tensor row = Tensor::of(DType::f32, {1, 2}, {1, 10});
  const ValueId w = g.add_constant("w", {DType::f32, {2, 2}}, {.parts = {row.view(), row.view()}});
  const ValueId b = g.add_constant("b", {DType::f32, {2}}, {});
  g.add_output(*g.add("linear", {x, w, b}));
  const Tensor bias = Tensor::of(DType::f32, {2}, {100, 200});
  auto out = evaluate(g, {.inputs = {{"x", kX.view()}}, .constants = {{"b", bias.view()}}});
  ASSERT_TRUE(out.is_ok()) << out.status().message();
  EXPECT_THAT((*out)[0].numbers(), ElementsAre(121, 221, 143, 243));
}

TEST(Evaluate, states_live_on_between_runs) {
  const Graph g = must_parse(R"(graph g {
    input %x: f32[t, 2]
    input %positions: i32[t]
    input %sequence: i32[t]
    input %pages: i32[s, p]
    state %k: f32[n, 1, 2, 2]
    state %v: f32[n, 1, 2, 2]
    %y = attention(%x, %x, %x, %k, %v, %positions, %sequence, %pages) {heads=1, kv_heads=1, head_dim=2, scale=0}
    output %y
  })");
  Tensor k = *Tensor::zeros(DType::f32, {1, 1, 2, 2});
  Tensor v = k;
  const Tensor zero = Tensor::of(DType::i32, {1}, {0});
  const Tensor one = Tensor::of(DType::i32, {1}, {1});
  const Tensor pages = Tensor::of(DType::i32, {1, 1}, {0});
  const Tensor a = Tensor::of(DType::f32, {1, 2}, {2, 4});
  const Tensor b = Tensor::of(DType::f32, {1, 2}, {4, 8});
  Bindings bindings{
      .inputs = {{"x", a.view()}, {"positions", zero.view()}, {"sequence", zero.view()}, {"pages", pages.view()}},
      .states = {{"k", k.view()}, {"v", v.view()}}};
  EXPECT_THAT((*evaluate(g, bindings))[0].numbers(), ElementsAre(2, 4));
  bindings.inputs["x"] = b.view();
  bindings.inputs["positions"] = one.view();
  EXPECT_THAT((*evaluate(g, bindings))[0].numbers(), ElementsAre(3, 6));
}

TEST(Evaluate, the_hook_sees_every_node) {
  const Graph g = must_parse("graph g { input %x: f32[2, 2] %y = neg(%x) %z = neg(%y) output %z }");
  std::vector<std::string> seen;
  auto hook = [&](const Graph& graph, NodeId n, std::span<const ConstTensorView> results) {
    seen.push_back(graph.value(graph.node(n).outputs[0]).name + "=" + std::to_string(results[0].as<float>()[0]));
  };
  ASSERT_TRUE(evaluate(g, {.inputs = {{"x", kX.view()}}}, hook).is_ok());
  EXPECT_THAT(seen, ElementsAre("y=-1.000000", "z=1.000000"));
}

TEST(Evaluate, what_is_missing_or_does_not_fit_is_named) {
  const Graph g = must_parse("graph g { input %x: f32[t, 2] input %y: f32[t, 2] %z = add(%x, %y) output %z }");
  EXPECT_EQ(evaluate(g, {.inputs = {{"x", kX.view()}}}).status().message(),
            "the graph's input %y (f32[t, 2]) is not given");
  const Tensor longer = Tensor::of(DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(evaluate(g, {.inputs = {{"x", kX.view()}, {"y", longer.view()}}}).status().message(),
            "%y is f32[t, 2], but the tensor given is f32[3, 2] and t is already 2");
  const Graph e = must_parse("graph g { input %i: i32[n] const %t: f32[1, 1] = [5] %y = embedding(%i, %t) output %y }");
  const Tensor id = Tensor::of(DType::i32, {1}, {1});
  EXPECT_EQ(evaluate(e, {.inputs = {{"i", id.view()}}}).status().message(),
            "embedding %y: ids[0] is 1, but the table has 1 rows");
}

}  // namespace
}  // namespace nereid::graph
