// SPDX-License-Identifier: Apache-2.0
// Thoughts are free, and what follows them is held to the form.
#include "server/protocol/openai/thought_form.h"

#include <gtest/gtest.h>

#include "llm/sample/grammar.h"
#include "llm/sample/sample_testing.h"

namespace nereid::server::openai {
namespace {

using sample::GrammarKind;

// Whether an answer of these bytes, and its end, is what the grammar allows.
bool allows(const sample::GrammarSpec& spec, std::string_view answer) {
  static const sample::Vocabulary bytes = sample::byte_vocabulary({});
  static const auto compiler = sample::GrammarCompiler::make(bytes).value();
  const auto grammar = compiler->compile(spec);
  EXPECT_TRUE(grammar.is_ok()) << grammar.status().message();
  if (!grammar.is_ok()) return false;
  const auto matcher = sample::GrammarMatcher::make(*grammar).value();
  for (const char c : answer)
    if (!matcher->accept(static_cast<unsigned char>(c))) return false;
  return matcher->can_end();
}

TEST(ThoughtForm, comes_after_thoughts_of_any_kind) {
  if (!sample::has_grammars()) GTEST_SKIP() << "this build has no grammars";
  const ThoughtFormat& think = *find_thought_format("think");
  struct Case {
    sample::GrammarSpec form;
    std::string right, wrong;
  };
  const Case cases[] = {
      {{GrammarKind::kJson, ""}, R"({"a": 1})", "[1]"},
      {{GrammarKind::kJsonSchema, R"({"type":"object","properties":{"b":{"enum":[1]},"a":{"enum":[2]}},)"
                                  R"("required":["b","a"],"additionalProperties":false})"},
       R"({"b": 1, "a": 2})",
       R"({"a": 2, "b": 1})"},
      {{GrammarKind::kRegex, R"([a-c]{3}\.)"}, "abc.", "abd."},
      {{GrammarKind::kEbnf, "root ::= \"yes\" | \"no\"\n"}, "no", "nay"},
      {{GrammarKind::kChoice, R"(["red","dark \"blue\""])"}, "dark \"blue\"", "green"},
  };
  for (const Case& one : cases) {
    ASSERT_TRUE(binds_whole_answer(one.form));
    const sample::GrammarSpec spec = form_after_thoughts(one.form, think);
    EXPECT_FALSE(binds_whole_answer(spec));
    const std::string thought = "Well, {\"a\": 3} < red </thin or </thinking> then.";
    EXPECT_TRUE(allows(spec, thought + "</think>\n\n" + one.right)) << one.right;
    EXPECT_TRUE(allows(spec, "</think>" + one.right)) << one.right;
    EXPECT_FALSE(allows(spec, thought + "</think>\n\n" + one.wrong)) << one.wrong;
    EXPECT_FALSE(allows(spec, thought)) << "an answer is missing";
    EXPECT_FALSE(allows(spec, one.right)) << "this is thought yet";
  }
}

}  // namespace
}  // namespace nereid::server::openai
