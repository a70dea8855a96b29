// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/tool_format.h"

#include <gtest/gtest.h>

#include "llm/chat/builtin_templates.h"

namespace nereid::server {
namespace {

TEST(ToolFormat, is_told_from_what_the_template_writes) {
  EXPECT_EQ(tool_format_of("{% if tools %}<tool_call>{{ call.arguments }}</tool_call>{% endif %}"), "hermes");
  EXPECT_EQ(tool_format_of("{% if tools %}Environment: ipython\n\"parameters\"{% endif %}"), "llama3");
  EXPECT_EQ(tool_format_of("{% if tools %}<|python_tag|>{% endif %}"), "llama3");
  EXPECT_EQ(tool_format_of("{% if tools %}[TOOL_CALLS]{% endif %}"), "mistral");
  EXPECT_EQ(tool_format_of("{% if tools %}<function={{ name }}></function>{% endif %}"), "function_tag");
  EXPECT_EQ(tool_format_of("{% if tools %}>>>all{% endif %}"), "functionary");
  EXPECT_EQ(tool_format_of("{% if tools %}<tool_call>\n<function={{ f }}>\n<parameter={{ p }}></function>{% endif %}"),
            "qwen3_coder");
  EXPECT_EQ(tool_format_of("{% if tools %}<｜tool▁calls▁begin｜>{% endif %}"), "deepseek");
  EXPECT_EQ(tool_format_of("{% if tools %}[func_name1(params_name1=params_value1)]<|python_start|>{% endif %}"),
            "pythonic");
}

TEST(ThoughtFormat, is_told_from_what_the_template_writes) {
  EXPECT_EQ(thought_format_of("{{ content.split('</think>')[-1] }}"), "think");
  EXPECT_EQ(thought_format_of("<|im_start|>assistant\n<think>\n"), "think");
  EXPECT_EQ(thought_format_of("[THINK]"), "mistral");
  EXPECT_EQ(thought_format_of(chat::builtin_template("chatml")->source()), "");
}

TEST(ToolFormat, a_template_without_tools_has_none) {
  EXPECT_EQ(tool_format_of(""), "");
  EXPECT_EQ(tool_format_of("{{ messages }}<tool_call>"), "");
  EXPECT_EQ(tool_format_of(chat::builtin_template("chatml")->source()), "");
}

}  // namespace
}  // namespace nereid::server
