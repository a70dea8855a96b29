// SPDX-License-Identifier: Apache-2.0
#include "passes/picture.h"

#include <gtest/gtest.h>

#include "passes/pipeline.h"

namespace nereid::passes {
namespace {

std::string refusal(std::string_view pattern, std::string_view replacement) {
  auto rewrite = parse_rewrite(pattern, replacement);
  return rewrite.is_ok() ? "accepted" : rewrite.status().message();
}

constexpr std::string_view kPattern = "graph pattern { input %x %h = neg(%x) %y = neg(%h) output %y }";

TEST(Picture, a_pattern_and_its_replacement_share_values) {
  auto rewrite = parse_rewrite(kPattern, "graph replacement { %y = identity(%x) output %y }");
  ASSERT_TRUE(rewrite.is_ok()) << rewrite.status().message();
  EXPECT_EQ(rewrite->pattern.nodes.size(), 2u);
  EXPECT_EQ(rewrite->replacement.nodes[0].args[0], rewrite->pattern.find("x"));
  EXPECT_EQ(rewrite->replacement.nodes[0].results[0], rewrite->pattern.find("y"));
}

TEST(Picture, mistakes_are_named_with_their_place) {
  EXPECT_EQ(refusal("graph p { input %x %y = negg(%x) output %y }", ""),
            "the pattern: line 1, column 20: there is no op 'negg'");
  EXPECT_EQ(refusal("graph p { input %x %y = neg(%x) }", ""), "the pattern: it has no output");
  EXPECT_EQ(refusal("graph p { input %x output %x }", ""), "the pattern: line 1, column 20: %x is no result");
  EXPECT_EQ(refusal("graph p { perhaps %x }", ""), "the pattern: line 1, column 11: 'perhaps' means nothing here");
  EXPECT_EQ(refusal("graph p { input %x %y = scale(%x) {faktor=$f} output %y }", ""),
            "the pattern: line 1, column 20: line 1, column 36: scale has no attribute 'faktor'");
  EXPECT_EQ(refusal(kPattern, "graph r { %y = neg(%z) output %y }"),
            "the replacement: line 1, column 11: there is no value %z before this");
  EXPECT_EQ(refusal(kPattern, "graph r { %z = neg(%x) output %z }"),
            "pattern and replacement should have the same outputs in the same order");
  EXPECT_EQ(refusal(kPattern, "graph r { %z = neg(%y) %y = neg(%z) output %y }"),
            "the replacement: line 1, column 11: %y is replaced and cannot be read");
  EXPECT_EQ(refusal(kPattern, "graph r { input %q %y = neg(%q) output %y }"),
            "the replacement: line 1, column 11: 'input' means nothing here");
  EXPECT_EQ(refusal(kPattern, "graph r { const %c = join_rows(%x) %y = neg(%c) output %y }"),
            "the replacement: line 1, column 11: join_rows takes constants");
}

TEST(Picture, every_picture_of_the_pipeline_is_well_formed) {
  for (const Pass& pass : pipeline()) {
    EXPECT_NE(pass.run == nullptr, pass.rewrites == nullptr) << pass.name;
    EXPECT_FALSE(pass.reason.empty()) << pass.name;
    if (pass.rewrites == nullptr) continue;
    for (const RewriteText& text : pass.rewrites())
      EXPECT_EQ(refusal(text.pattern, text.replacement), "accepted") << pass.name;
  }
}

}  // namespace
}  // namespace nereid::passes
