// SPDX-License-Identifier: Apache-2.0
// Answers of models that think, as their templates show them: the same parts however the text was cut.
#include "server/protocol/openai/thoughts.h"

#include <gtest/gtest.h>

namespace nereid::server::openai {
namespace {

struct Parts {
  std::string thought, answer;
  friend bool operator==(const Parts&, const Parts&) = default;
};
std::ostream& operator<<(std::ostream& out, const Parts& p) {
  return out << "thought '" << p.thought << "', answer '" << p.answer << "'";
}

Parts read(std::string_view text, bool is_inside, size_t step, std::string_view format = "think") {
  ThoughtReader reader(*find_thought_format(format), is_inside);
  Parts parts;
  for (size_t at = 0; at < text.size(); at += step) reader.push(text.substr(at, step), &parts.thought, &parts.answer);
  reader.finish(&parts.thought, &parts.answer);
  return parts;
}

void expect_parts(std::string_view text, bool is_inside, const Parts& expected) {
  for (size_t step = 1; step <= text.size() + 1; ++step) EXPECT_EQ(read(text, is_inside, step), expected) << step;
}

TEST(Thoughts, stand_between_marks_before_the_answer) {
  expect_parts("<think>\nIt may rain.\nOr not.\n</think>\n\nYes.", false, {"It may rain.\nOr not.", "Yes."});
  expect_parts("\n<think>a</think>b", false, {"a", "b"});
  expect_parts("<think>\n\n</think>\n\nYes.", false, {"", "Yes."});
}

TEST(Thoughts, may_have_begun_in_the_prompt) {
  expect_parts("It may rain.\n</think>\nYes.", true, {"It may rain.", "Yes."});
  expect_parts("<think>\nIt may rain.</think>Yes.", true, {"It may rain.", "Yes."});
  expect_parts("It may", true, {"It may", ""});
  expect_parts("", true, {"", ""});
}

TEST(Thoughts, what_is_no_thought_is_the_answer_as_it_is) {
  expect_parts("  Yes. <think>not now</think> ", false, {"", "  Yes. <think>not now</think> "});
  expect_parts("<thin", false, {"", "<thin"});
  expect_parts("a < b </thinking>", true, {"a < b </thinking>", ""});
  expect_parts(" ", false, {"", " "});
}

TEST(Thoughts, an_answer_that_ends_while_thinking_has_none) {
  expect_parts("<think>so", false, {"so", ""});
  expect_parts("<think>so</thi", false, {"so</thi", ""});
  expect_parts("<think>so</think>", false, {"so", ""});
}

TEST(Thoughts, are_told_as_they_come) {
  ThoughtReader reader(*find_thought_format("think"), false);
  std::string thought, answer;
  EXPECT_FALSE(reader.is_thinking());
  reader.push("<think>It may", &thought, &answer);
  EXPECT_EQ(thought, "It may");
  EXPECT_TRUE(reader.is_thinking());
  reader.push(" rain.</think>Y", &thought, &answer);
  EXPECT_EQ(thought, "It may rain.");
  EXPECT_EQ(answer, "Y");
  EXPECT_FALSE(reader.is_thinking());
}

TEST(Thoughts, other_models_have_other_marks) {
  for (const ThoughtFormat& format : thought_format_table()) {
    const std::string text = std::string(format.begin) + "why" + std::string(format.end) + "so";
    EXPECT_EQ(read(text, false, 1, format.name), (Parts{"why", "so"})) << format.name;
  }
  EXPECT_EQ(find_thought_format("loud"), nullptr);
}

TEST(Thoughts, a_prompt_shows_whether_it_began_them) {
  const ThoughtFormat& think = *find_thought_format("think");
  EXPECT_TRUE(ends_in_thought(think, "<|im_start|>assistant\n<think>\n"));
  EXPECT_FALSE(ends_in_thought(think, "<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  EXPECT_FALSE(ends_in_thought(think, "<|im_start|>assistant\n"));
  EXPECT_FALSE(ends_in_thought(think, ""));
}

}  // namespace
}  // namespace nereid::server::openai
