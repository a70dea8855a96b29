// SPDX-License-Identifier: Apache-2.0
#include "passes/layer_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace nereid::passes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

graph::Graph network() {
  return graph::parse(R"(graph main {
    input %x: f32[n, 2]
    const %w: f32[2, 2] = [1, 2, 3, 4]
    %a: f32[n, 2] = dense(%x, %w) {activation="relu"}
    %b: f32[n, 2] = dense(%a, %w)
    %y: f32[n, 2] = softmax(%b)
    output %y, %b
  })")
      .value();
}

TEST(LayerPrecision, is_set_for_the_layers_that_are_named_and_nothing_else_changes) {
  graph::Graph graph = network();
  EXPECT_THAT(layers_with_precision(graph), ElementsAre("a", "b"));
  ASSERT_TRUE(set_layer_precision(graph, {"b"}, "bf16").is_ok());
  ASSERT_TRUE(graph::verify(graph).is_ok());
  const std::string text = graph::print(graph);
  EXPECT_THAT(text, HasSubstr("%a: f32[n, 2] = dense(%x, %w) {activation=relu}"));
  EXPECT_THAT(text, HasSubstr("%b: f32[n, 2] = dense(%a, %w) {precision=bf16}"));
  EXPECT_THAT(text, HasSubstr("output %y, %b"));
  ASSERT_TRUE(set_layer_precision(graph, {"b"}, "").is_ok());
  EXPECT_EQ(graph::print(graph), graph::print(network()));
}

TEST(LayerPrecision, what_is_no_layer_is_refused) {
  graph::Graph graph = network();
  for (const char* name : {"y", "x", "absent"})
    EXPECT_THAT(set_layer_precision(graph, {name}, "bf16").message(), HasSubstr(std::string("'") + name + "'"));
}

}  // namespace
}  // namespace nereid::passes
