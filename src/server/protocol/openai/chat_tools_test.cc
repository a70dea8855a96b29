// SPDX-License-Identifier: Apache-2.0
// The grammars that tools are turned into, and the order of what templates see.
#include "server/protocol/openai/chat_tools.h"

#include <gtest/gtest.h>

#include "server/protocol/openai/chat_request.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kWeather =
    R"({"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"integer"}}}}})";
constexpr std::string_view kRain = R"({"type": "function", "function": {"strict": true, "name": "rain"}})";

ChatRequest read(std::string_view more) {
  FirstError error;
  const std::string body =
      fmt::format(R"({{"messages":[{{"role":"user","content":"x"}}],"tools":[{},{}]{}}})", kWeather, kRain, more);
  const Json json = read_body(body, &error);
  ChatRequest request = read_chat(json, {.body = body}, &error);
  EXPECT_FALSE(error.is_set()) << error.get().message;
  return request;
}

TEST(ChatTools, templates_see_tools_as_they_were_sent) {
  EXPECT_EQ(read("").tools.json(), fmt::format("[{},{}]", kWeather, kRain));
}

TEST(ChatTools, only_allowed_tools_are_seen) {
  const ChatRequest request = read(
      R"(,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"rain"}}]}})");
  ASSERT_EQ(request.tools.tools.size(), 1u);
  EXPECT_EQ(request.tools.tools[0].name, "rain");
  EXPECT_EQ(request.tools.choice, ToolChoice::kRequired);
}

TEST(ChatTools, a_named_tool_is_its_own_schema) {
  const ChatRequest request = read(R"(,"tool_choice":{"type":"function","function":{"name":"rain"}})");
  const sample::GrammarSpec grammar = tool_grammar(request.tools, nullptr, false);
  EXPECT_EQ(grammar.kind, sample::GrammarKind::kJsonSchema);
  EXPECT_EQ(grammar.text, R"({"type":"object","properties":{}})");
}

TEST(ChatTools, required_tools_are_a_list_of_calls_whose_definitions_stand_at_the_root) {
  const ChatRequest request = read(R"(,"tool_choice":"required","parallel_tool_calls":false)");
  const sample::GrammarSpec grammar = tool_grammar(request.tools, nullptr, false);
  EXPECT_EQ(grammar.kind, sample::GrammarKind::kJsonSchema);
  const Json schema = Json::parse(grammar.text);
  EXPECT_EQ(schema["maxItems"], 1);
  EXPECT_EQ(schema["$defs"]["A"]["type"], "integer");
  EXPECT_EQ(schema["items"]["anyOf"].size(), 2);
  EXPECT_EQ(schema["items"]["anyOf"][1]["properties"]["name"]["enum"][0], "rain");
  EXPECT_LT(grammar.text.find("\"z\""), grammar.text.find("\"a\""));
}

TEST(ChatTools, strict_tools_hold_what_begins_as_a_call) {
  const ChatRequest request = read("");
  const sample::GrammarSpec grammar = tool_grammar(request.tools, find_tool_format("hermes"), false);
  EXPECT_EQ(grammar.kind, sample::GrammarKind::kStructuralTag);
  const Json tag = Json::parse(grammar.text);
  EXPECT_EQ(tag["format"]["triggers"][0], "<tool_call>");
  EXPECT_EQ(tag["format"]["tags"].size(), 2);
  EXPECT_EQ(tag["format"]["tags"][1]["begin"], "<tool_call>\n{\"name\": \"rain\", \"arguments\": ");
}

TEST(ChatTools, templates_without_tools_are_told_in_words) {
  std::vector<Message> messages = {{.role = "user", .content = "Rain?"},
                                   {.role = "assistant", .tool_calls = {{"1", "rain", "{}"}, {"2", "rain", "{}"}}},
                                   {.role = "tool", .content = "yes", .tool_call_id = "1"},
                                   {.role = "tool", .content = "no", .tool_call_id = "2"}};
  messages = with_tools_as_text(std::move(messages), "[TOOLS]");
  ASSERT_EQ(messages.size(), 4);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_NE(messages[0].content.find("<tools>\n[TOOLS]\n</tools>"), std::string::npos);
  EXPECT_EQ(messages[2].content,
            "<tool_call>\n{\"name\": \"rain\", \"arguments\": {}}\n</tool_call>\n"
            "<tool_call>\n{\"name\": \"rain\", \"arguments\": {}}\n</tool_call>");
  EXPECT_EQ(messages[3].role, "user");
  EXPECT_EQ(messages[3].content, "<tool_response>\nyes\n</tool_response>\n<tool_response>\nno\n</tool_response>");
}

TEST(ChatTools, messages_reach_the_template_with_arguments_as_objects_in_their_order) {
  FirstError error;
  const std::string body =
      R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"z\": 1, \"a\": 2}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]})";
  const Json json = read_body(body, &error);
  const ChatRequest request = read_chat(json, {.body = body}, &error);
  ASSERT_FALSE(error.is_set());
  EXPECT_EQ(
      template_messages(request.messages),
      R"([{"role":"assistant","content":"","tool_calls":[{"type":"function","id":"c","function":{"name":"f","arguments":{"z": 1, "a": 2}}}]},)"
      R"({"role":"tool","content":"x\ny","name":"f","tool_call_id":"c"}])");
}

TEST(ChatTools, arguments_with_too_many_members_stay_a_text) {
  std::string arguments = "{";
  for (size_t i = 0; i <= kMaxOrderedMembers; ++i) arguments += fmt::format("{}\"{}\":1", i > 0 ? "," : "", i);
  arguments += "}";
  const std::string json = template_messages({{.role = "assistant", .tool_calls = {{"1", "f", arguments}}}});
  EXPECT_TRUE(Json::parse(json)[0]["tool_calls"][0]["function"]["arguments"].is_string());
}

}  // namespace
}  // namespace nereid::server::openai
