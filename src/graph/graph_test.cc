// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.h"

#include <gtest/gtest.h>

#include "graph/text.h"
#include "graph/verify.h"

namespace nereid::graph {
namespace {

const ops::TensorType kVector{DType::f32, {4}};

TEST(Graph, taken_names_get_a_number) {
  Graph g;
  EXPECT_EQ(g.value(g.add_input("x", kVector)).name, "x");
  EXPECT_EQ(g.value(g.add_input("x", kVector)).name, "x.2");
  EXPECT_EQ(g.value(*g.add("neg", {ValueId{0}}, {}, "x")).name, "x.3");
}

TEST(Graph, the_first_result_takes_the_name_and_the_others_count) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const auto parts = *g.add_node("split", {x}, {{"sizes", std::vector<int64_t>{1, 2, 1}}}, "part");
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(g.value(parts[0]).name, "part");
  EXPECT_EQ(g.value(parts[2]).name, "part.2");
  EXPECT_EQ(g.value(parts[1]).type.to_string(), "f32[2]");
}

TEST(Graph, a_node_is_given_its_default_attributes_and_absent_arguments) {
  Graph g;
  const ValueId y = *g.add("rms_norm", {g.add_input("x", kVector)});
  const Node& node = g.node(g.value(y).producer);
  EXPECT_EQ(node.attrs.real("eps"), 1e-5);
  ASSERT_EQ(node.inputs.size(), 3u);
  EXPECT_FALSE(node.inputs[2].valid());
}

TEST(Graph, what_an_op_refuses_names_the_node) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId s = g.add_state("cache", kVector);
  EXPECT_EQ(g.add("no_op", {x}, {}, "y").status().message(), "no_op %y: there is no op of that name");
  EXPECT_EQ(g.add("neg", {}, {}, "y").status().message(), "neg %y: argument 'x' is required and missing");
  EXPECT_EQ(g.add("neg", {x, x}, {}, "y").status().message(), "neg %y: 2 arguments are given, but neg takes 1");
  EXPECT_EQ(g.add("neg", {s}, {}, "y").status().message(), "neg %y: %cache is a state and cannot be argument 'x'");
  EXPECT_EQ(g.add("softmax", {x}, {{"axis", int64_t{1}}}, "y").status().message(),
            "softmax %y: x f32[4] has no dimension 1");
  EXPECT_TRUE(g.order().empty());
}

TEST(Graph, uses_move_and_dead_nodes_leave) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId a = *g.add("neg", {x}, {}, "a");
  const ValueId b = *g.add("exp", {a}, {}, "b");
  g.add_output(b);
  g.replace_all_uses(a, x);
  EXPECT_TRUE(g.users(a).empty());
  g.erase_node(g.value(a).producer);
  EXPECT_EQ(print(g), "graph main {\n  input %x: f32[4]\n  %b: f32[4] = exp(%x)\n  output %b\n}\n");
  EXPECT_FALSE(g.find_value("a").valid());
  EXPECT_TRUE(verify(g).is_ok());
}

TEST(Graph, sorting_puts_producers_first_and_keeps_the_order_otherwise) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId first = *g.add("neg", {x}, {}, "first");
  const ValueId last = *g.add("neg", {x}, {}, "last");
  const ValueId late = *g.add("exp", {x}, {}, "late");
  g.add_output(last);
  g.add_output(first);
  // `last` now reads a value that is computed after it.
  g.replace_all_uses(x, late);
  g.replace_all_uses(late, x);
  const auto inserted = *g.insert_node(g.value(last).producer, "add", {first, late}, {}, "sum");
  g.add_output(inserted[0]);
  EXPECT_FALSE(verify(g).is_ok());
  ASSERT_TRUE(g.sort().is_ok());
  EXPECT_TRUE(verify(g).is_ok()) << verify(g).message();
  std::vector<std::string> names;
  for (NodeId n : g.order()) names.push_back(g.value(g.node(n).outputs[0]).name);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "last", "late", "sum"}));
}

TEST(Graph, copies_are_independent_and_share_constants) {
  Graph g;
  const ValueId c = g.add_constant_f32("c", {1, 2}, {2});
  g.add_output(*g.add("neg", {c}));
  Graph copy = g;
  copy.rename(c, "d");
  EXPECT_EQ(g.value(c).name, "c");
  EXPECT_EQ(copy.value(c).data.parts[0].data, g.value(c).data.parts[0].data);
}

TEST(Graph, constants_lists_those_in_use) {
  Graph g;
  const ValueId used = g.add_constant_f32("used", {1}, {1});
  g.add_constant_f32("unused", {1}, {1});
  g.add_output(*g.add("neg", {used}));
  EXPECT_EQ(g.constants(), std::vector<ValueId>{used});
}

}  // namespace
}  // namespace nereid::graph
