// SPDX-License-Identifier: Apache-2.0
// The page of a graph and what `nereid explain` prints, whatever names a model has.
#include "cli/graph_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/explain_text.h"
#include "graph/text.h"

namespace nereid::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr GraphPageParts kParts = {.html = "<title><!--title--></title>/*style*/<!--data-->/*dagre*/|/*script*/",
                                   .style = "S",
                                   .dagre = "D",
                                   .script = "/*style*/"};

TEST(GraphPage, a_name_cannot_end_the_script_that_holds_the_data) {
  const std::string name = "</script><script>alert(1)</script><!--";
  const std::string text = script_json({{"name", name}});
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_EQ(compile::OrderedJson::parse(text)["name"], name);
}

TEST(GraphPage, bytes_that_are_no_text_are_replaced) {
  EXPECT_EQ(compile::OrderedJson::parse(script_json({{"name", "a\xff\xfe"}}))["name"], "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(GraphPage, parts_are_put_in_once_and_not_looked_at_again) {
  EXPECT_EQ(graph_page({{"model", "<b>/*dagre*/"}}, kParts),
            "<title>&lt;b&gt;/*dagre*/</title>S{\"model\":\"\\u003cb\\u003e/*dagre*/\"}D|/*style*/");
}

TEST(GraphPage, the_page_of_this_build_has_a_place_for_every_part_and_asks_for_nothing_outside) {
  const std::string page = graph_page({{"model", "net"}});
  EXPECT_THAT(page, HasSubstr("<title>net"));
  EXPECT_THAT(page, HasSubstr("{\"model\":\"net\"}"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* outside : {"src=\"", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(Explain, sentences_that_differ_in_names_alone_are_one) {
  EXPECT_EQ(without_names("linear %blk.0.q: %w:1 is q4_0, not %v"), "linear %: % is q4_0, not %");
  EXPECT_EQ(without_names("100 % of it"), "100 % of it");
}

compile::NetworkView view_of(size_t records) {
  compile::NetworkView view{.file = "net.onnx", .kind = "ONNX file", .isa = "avx2", .precision = "f32"};
  view.after = *graph::parse("graph net {\n  input %x: f32[2]\n  %y: f32[2] = relu(%x)\n  output %y\n}\n");
  view.before = view.after;
  view.passes.push_back(
      {.name = "fuse_epilogue", .refused = static_cast<int64_t>(records), .nodes_before = 2, .nodes_after = 1});
  for (size_t i = 0; i < records; ++i)
    view.passes[0].records.push_back(
        {.fired = false, .where = fmt::format("relu %y{}", i), .what = fmt::format("%z{} is read twice", i)});
  view.account = compile::account_graph(view.after, "");
  view.account.layers[0].kernel = "reference";
  view.account.layers[0].note = "there is no kernel for it";
  return view;
}

TEST(Explain, the_first_of_like_refusals_is_told_with_their_number) {
  const std::string text = explain_text(view_of(3), false);
  EXPECT_THAT(text, HasSubstr("fuse_epilogue (3 times)\n  relu %y0: %z0 is read twice, and 2 more like it\n"));
  EXPECT_THAT(explain_text(view_of(3), true), HasSubstr("  relu %y2: %z2 is read twice\n"));
}

TEST(Explain, a_layer_on_its_evaluator_says_why) {
  EXPECT_THAT(explain_text(view_of(0), false), HasSubstr("there is no kernel for it"));
}

}  // namespace
}  // namespace nereid::cli
