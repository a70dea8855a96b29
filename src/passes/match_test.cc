// SPDX-License-Identifier: Apache-2.0
#include "passes/match.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace nereid::passes {
namespace {

using graph::Graph;

Graph parse(std::string_view text) {
  auto g = graph::parse(text);
  EXPECT_TRUE(g.is_ok()) << g.status().message();
  return std::move(g).value();
}

// What a pattern finds from the first node on: the names that its values stand for, or the refusal, or "nothing".
std::string find(const Graph& g, const std::string& pattern, Condition condition = nullptr) {
  // The replacement does not matter here.
  auto alone = parse_rewrite("graph p {" + pattern + " output %y }", "graph r { %y = identity(%x) output %y }");
  EXPECT_TRUE(alone.is_ok()) << alone.status().message();
  auto found = find_match(g, alone->pattern, g.order()[0], condition);
  if (!found) return "nothing";
  if (!found->refusal.is_ok()) return found->refusal.message();
  std::string out;
  for (size_t i = 0; i < alone->pattern.values.size(); ++i) {
    const graph::ValueId v = found->match.values[i];
    out += (out.empty() ? "" : " ") + alone->pattern.values[i].name + "=" + (v.valid() ? g.value(v).name : "_");
  }
  return out;
}

TEST(Match, values_stand_for_one_thing_wherever_they_stand) {
  const std::string square = "input %x %h = neg(%x) %y = mul(%h, %h)";
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = neg(%a) %c = mul(%b, %b) output %c }"), square), "x=a h=b y=c");
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = neg(%a) %c = mul(%b, %a) output %c }"), square), "nothing");
}

TEST(Match, exchangeable_arguments_match_either_way) {
  const std::string pattern = "input %x, %r %h = neg(%x) %y = add(%h, %r)";
  EXPECT_EQ(
      find(parse("graph g { input %a: f32[4] input %b: f32[4] %c = neg(%a) %d = add(%b, %c) output %d }"), pattern),
      "x=a r=b h=c y=d");
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] input %b: f32[4] %c = neg(%a) %d = sub(%b, %c) output %d }"),
                 "input %x, %r %h = neg(%x) %y = sub(%h, %r)"),
            "nothing");
}

TEST(Match, an_inner_result_with_another_user_is_refused_with_the_user) {
  const std::string pattern = "input %x %h = neg(%x) %y = exp(%h)";
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = neg(%a) %c = exp(%b) %d = relu(%b) output %c, %d }"), pattern),
            "%b has another user, relu %d");
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = neg(%a) %c = exp(%b) output %c, %b }"), pattern),
            "%b is an output of the graph");
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = neg(%a) %c = exp(%b) %d = relu(%b) output %c, %d }"),
                 "input %x shared %h = neg(%x) %y = exp(%h)"),
            "x=a h=b y=c");
}

TEST(Match, constants_types_and_attributes_are_refused_with_what_was_found) {
  const Graph g =
      parse("graph g { input %a: f32[t, 4] const %w: f16[8, 4] %b = linear(%a, %w) {norm_eps=0.5} output %b }");
  EXPECT_EQ(find(g, "input %x const %w: $f[n, k] %y = linear(%x, %w) {norm_eps=$e}"), "x=a w=w y=b");
  EXPECT_EQ(find(g, "const %x input %w %y = linear(%x, %w) {norm_eps=$e}"), "%a is no constant");
  EXPECT_EQ(find(g, "input %x: $f[...] input %w: $f[...] %y = linear(%x, %w) {norm_eps=$e}"), "%w is f16, not f32");
  EXPECT_EQ(find(g, "input %x input %w: _[n, n] %y = linear(%x, %w) {norm_eps=$e}"),
            "%w is f16[8, 4], whose dimension 1 is not 8");
  EXPECT_EQ(find(g, "input %x input %w: _[_] %y = linear(%x, %w) {norm_eps=$e}"),
            "%w is f16[8, 4], which has not 1 dimensions");
  EXPECT_EQ(find(g, "input %x, %w %y = linear(%x, %w) {norm_eps=1}"), "linear %b has norm_eps=0.5, not 1.0");
  EXPECT_EQ(find(g, "input %x, %w %y = linear(%x, %w)"),
            "linear %b has norm_eps=0.5, which the pattern does not carry over");
  EXPECT_EQ(find(g, "input %x, %w %y = linear(%x, %w) {...rest}"), "x=a w=w y=b");
}

TEST(Match, absent_arguments_bind_optional_values_and_only_those) {
  const Graph g = parse(
      "graph g { input %a: f32[t, 4] input %r: f32[t, 8] const %w: f32[8, 4] %b = linear(%a, %w, _, %r) output %b }");
  EXPECT_EQ(find(g, "input %x, %w, %r optional %b %y = linear(%x, %w, %b, %r)"), "x=a w=w r=r b=_ y=b");
  EXPECT_EQ(find(g, "input %x, %w, %b %y = linear(%x, %w, %b)"), "nothing");
  EXPECT_EQ(find(g, "input %x, %w %y = linear(%x, %w)"), "linear %b has an argument 'residual' already, %r");
}

TEST(Match, an_input_that_needs_the_match_itself_is_refused) {
  const Graph g = parse("graph g { input %a: f32[4] %b = neg(%a) %c = relu(%b) %d = add(%b, %c) output %d }");
  EXPECT_EQ(find(g, "input %x, %r shared %h = neg(%x) %y = add(%h, %r)"),
            "an input of the pattern depends on %b, which is part of it");
}

TEST(Match, siblings_are_taken_in_the_order_of_the_graph) {
  const std::string pattern = "input %x shared %z = exp(%x) %y = exp(%x)";
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = exp(%a) %c = exp(%a) output %b, %c }"), pattern),
            "x=a z=b y=c");
  EXPECT_EQ(find(parse("graph g { input %a: f32[4] %b = exp(%a) output %b }"), pattern), "nothing");
}

TEST(Match, a_condition_refuses_in_its_own_words) {
  const Graph g = parse("graph g { input %a: f32[4] %b = neg(%a) output %b }");
  auto never = [](const Graph& graph, const Match& match) {
    return unsupported("not with %{}", graph.value(match.value("x")).name);
  };
  EXPECT_EQ(find(g, "input %x %y = neg(%x)", never), "not with %a");
}

}  // namespace
}  // namespace nereid::passes
