// SPDX-License-Identifier: Apache-2.0
#include "graph/verify.h"

#include <gtest/gtest.h>

namespace nereid::graph {
namespace {

const ops::TensorType kVector{DType::f32, {4}};

TEST(Verify, an_empty_graph_is_fine) {
  EXPECT_TRUE(verify(Graph()).is_ok());
}

TEST(Verify, reading_before_computing_is_found) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId a = *g.add("neg", {x}, {}, "a");
  const ValueId b = *g.add("exp", {a}, {}, "b");
  g.replace_all_uses(x, b);
  EXPECT_EQ(verify(g).message(), "neg %a reads %b before it is computed");
}

TEST(Verify, an_output_that_is_a_state_is_found) {
  Graph g;
  g.add_output(g.add_state("cache", kVector));
  EXPECT_EQ(verify(g).message(), "output %cache is a state");
}

TEST(Verify, a_replaced_value_of_another_type_is_found) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId wide = g.add_input("wide", {DType::f32, {8}});
  g.add_output(*g.add("neg", {x}, {}, "a"));
  g.replace_all_uses(x, wide);
  EXPECT_EQ(verify(g).message(), "%a is f32[4], but neg %a gives f32[8]");
}

TEST(Verify, a_state_in_place_of_a_value_is_found) {
  Graph g;
  const ValueId x = g.add_input("x", kVector);
  const ValueId state = g.add_state("cache", kVector);
  g.add_output(*g.add("neg", {x}, {}, "a"));
  g.replace_all_uses(x, state);
  EXPECT_EQ(verify(g).message(), "neg %a takes %cache as argument 'x', which is not declared as a state");
}

TEST(Verify, constants_data_must_have_the_constants_type) {
  const std::vector<float> data(8);
  Graph g;
  const ConstTensorView part(data.data(), DType::f32, {2, 2});
  g.add_constant("good", {DType::f32, {4, 2}}, {.parts = {part, part}});
  EXPECT_TRUE(verify(g).is_ok());
  g.add_constant("short", {DType::f32, {6, 2}}, {.parts = {part, part}});
  EXPECT_EQ(verify(g).message(), "constant %short is f32[6, 2], but its data has 4 rows");
  Graph h;
  h.add_constant("narrow", {DType::f32, {2, 4}}, {.parts = {part}});
  EXPECT_EQ(verify(h).message(), "constant %narrow is f32[2, 4], but a part of its data is f32[2, 2]");
}

}  // namespace
}  // namespace nereid::graph
