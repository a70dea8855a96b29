// SPDX-License-Identifier: Apache-2.0
// Small templates against jinja2's own results (tests/data/chat/make_cases.py): one test a template.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "llm/chat/chat_template.h"

namespace nereid::chat {
namespace {

OrderedJson read_cases() {
  std::ifstream in(NEREID_SOURCE_DIR "/tests/data/chat/cases.json", std::ios::binary);
  return OrderedJson::parse(in);
}

RenderInput input_with(const OrderedJson& variables) {
  RenderInput input;
  input.messages = OrderedJson::array();
  input.variables = variables;
  std::tm now{};
  now.tm_year = 125, now.tm_mon = 6, now.tm_mday = 26, now.tm_hour = 12, now.tm_min = 34, now.tm_sec = 56;
  now.tm_wday = 6, now.tm_yday = 206;
  input.now = now;
  return input;
}

TEST(ChatCases, small_templates_do_what_jinja2_does) {
  const OrderedJson cases = read_cases();
  const RenderInput input = input_with(cases.at("variables"));
  ASSERT_GE(cases.at("cases").size(), 280u);
  for (const OrderedJson& c : cases.at("cases")) {
    const auto source = c.at("template").get<std::string>();
    SCOPED_TRACE(source);
    auto parsed = ChatTemplate::parse(source);
    auto text = parsed.is_ok() ? parsed->render(input) : Result<std::string>(parsed.status());
    if (c.contains("text")) {
      EXPECT_TRUE(text.is_ok()) << text.status().message();
      EXPECT_EQ(text.is_ok() ? *text : std::string(), c.at("text").get<std::string>());
    } else if (c.contains("raises")) {
      EXPECT_EQ(text.status().message(), c.at("raises").get<std::string>());
    } else {
      EXPECT_FALSE(text.is_ok()) << c.at("fails") << " expected, found: " << *text;
      EXPECT_TRUE(text.is_ok() || text.status().message().starts_with("chat template, line "))
          << text.status().message();
    }
  }
}

}  // namespace
}  // namespace nereid::chat
