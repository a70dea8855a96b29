// SPDX-License-Identifier: Apache-2.0
// What models write, as their documentation shows it, and what a client must get: the same however the text was cut.
#include "server/protocol/openai/tools/tool_format.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace nereid::server::openai {
namespace {

struct Call {
  std::string name, arguments;
  friend bool operator==(const Call&, const Call&) = default;
};

struct Read {
  std::string content;
  std::vector<Call> calls;
  friend bool operator==(const Read&, const Read&) = default;
};

std::ostream& operator<<(std::ostream& out, const Read& read) {
  out << "content '" << read.content << "'";
  for (const Call& call : read.calls) out << ", " << call.name << "(" << call.arguments << ")";
  return out;
}

void gather(ToolEvents* events, Read* read) {
  for (const ToolEvent& one : *events) {
    switch (one.kind) {
      case ToolEvent::Kind::kContent:
        read->content += one.text;
        break;
      case ToolEvent::Kind::kCall:
        read->calls.push_back({one.text, ""});
        break;
      case ToolEvent::Kind::kArguments:
        ASSERT_FALSE(read->calls.empty());
        read->calls.back().arguments += one.text;
        break;
      case ToolEvent::Kind::kThought:
        FAIL() << "a parser of tools knows no thoughts";
    }
  }
  events->clear();
}

Read read_pieces(ToolParser& parser, const std::vector<std::string_view>& pieces) {
  Read read;
  ToolEvents events;
  for (const std::string_view piece : pieces) {
    parser.push(piece, &events);
    gather(&events, &read);
  }
  parser.finish(&events);
  gather(&events, &read);
  return read;
}

const ToolNames kNames = {"weather", "rain", "get_time"};

// Whole, byte by byte, in two pieces at every place, and in random pieces.
void expect_reads(const std::function<std::unique_ptr<ToolParser>()>& make, std::string_view text,
                  const Read& expected) {
  SCOPED_TRACE(text);
  EXPECT_EQ(read_pieces(*make(), {text}), expected);
  std::vector<std::string_view> bytes;
  for (size_t i = 0; i < text.size(); ++i) bytes.push_back(text.substr(i, 1));
  EXPECT_EQ(read_pieces(*make(), bytes), expected);
  for (size_t i = 1; i < text.size(); ++i)
    EXPECT_EQ(read_pieces(*make(), {text.substr(0, i), text.substr(i)}), expected) << "cut at " << i;
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t n = 1 + random() % 9;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    EXPECT_EQ(read_pieces(*make(), pieces), expected);
  }
}

void expect_format(std::string_view format, std::string_view text, const Read& expected) {
  const ToolFormat* row = find_tool_format(format);
  ASSERT_NE(row, nullptr);
  expect_reads([&] { return row->make(kNames); }, text, expected);
}

TEST(ToolFormat, names_are_unlike_and_help_is_an_example_that_parses) {
  for (const ToolFormat& row : tool_format_table()) {
    EXPECT_EQ(find_tool_format(row.name), &row);
    const auto parser = row.make({"f"});
    EXPECT_EQ(read_pieces(*parser, {row.help}), (Read{"", {{"f", "{}"}}})) << row.name;
  }
  EXPECT_EQ(find_tool_format("smoke"), nullptr);
}

TEST(ToolFormat, a_frame_of_arguments_is_read_back_as_a_call) {
  for (const ToolFormat& row : tool_format_table()) {
    const ToolFrame frame = row.frame("weather");
    if (frame.begin.empty() || frame.style != "json") continue;
    EXPECT_TRUE(frame.begin.starts_with(frame.trigger)) << row.name;
    expect_format(row.name, frame.begin + R"({"city": "Os\"lo}"})" + frame.end,
                  {"", {{"weather", R"({"city": "Os\"lo}"})"}}});
  }
}

TEST(ToolFormat, text_without_calls_passes_through_every_format) {
  for (const ToolFormat& row : tool_format_table()) {
    if (row.name == "functionary") continue;  // an answer says whom it is for first
    for (const std::string_view text : {"It rains.", "", " two  spaces ", "a < b > c [d] {e} \"f\"", "line\nend\n"})
      expect_format(row.name, text, {std::string(text), {}});
  }
}

TEST(ToolFormat, hermes) {
  const auto call = [](std::string_view name, std::string_view arguments) {
    return fmt::format("<tool_call>\n{{\"name\": \"{}\", \"arguments\": {}}}\n</tool_call>", name, arguments);
  };
  expect_format("hermes", call("weather", R"({"city": "Oslo"})"), {"", {{"weather", R"({"city": "Oslo"})"}}});
  expect_format("hermes",
                "Let me see.\n" + call("weather", "{}") + "\n" + call("rain", R"({"a":[1,{"b":"}"}]})") + "\n",
                {"Let me see.", {{"weather", "{}"}, {"rain", R"({"a":[1,{"b":"}"}]})"}}});
  expect_format("hermes", call("weather", "{}") + "\nDone.", {"Done.", {{"weather", "{}"}}});
  // The members in the other order, a call as OpenAI writes it, arguments that are a string.
  expect_format("hermes", R"(<tool_call>{"arguments": {"x": 1}, "name": "rain"}</tool_call>)",
                {"", {{"rain", R"({"x": 1})"}}});
  expect_format("hermes",
                R"(<tool_call>{"type": "function", "function": {"name": "rain", "arguments": {}}}</tool_call>)",
                {"", {{"rain", "{}"}}});
  expect_format("hermes", R"(<tool_call>{"name": "rain", "arguments": "{\"a\": \"b\"}"}</tool_call>)",
                {"", {{"rain", R"({"a": "b"})"}}});
  expect_format("hermes", R"(<tool_call>{"name": "rain"}</tool_call>)", {"", {{"rain", "{}"}}});
  // What is no call comes back as it was.
  expect_format("hermes", R"(<tool_call>{"name": "snow", "arguments": {}}</tool_call>)",
                {R"(<tool_call>{"name": "snow", "arguments": {}}</tool_call>)", {}});
  expect_format("hermes", "<tool_call>never mind", {"<tool_call>never mind", {}});
  expect_format("hermes", "<tool_call>{\"nam", {"<tool_call>{\"nam", {}});
  expect_format("hermes", "<tool_cal", {"<tool_cal", {}});
  // The answer was cut in a call.
  expect_format("hermes", R"(<tool_call>{"name": "rain", "arguments": {"a": "b)", {"", {{"rain", R"({"a": "b)"}}});
}

TEST(ToolFormat, llama3) {
  expect_format("llama3", R"({"name": "weather", "parameters": {"city": "Oslo"}})",
                {"", {{"weather", R"({"city": "Oslo"})"}}});
  expect_format("llama3", R"(<|python_tag|>{"name": "weather", "parameters": {}}; {"name": "rain", "parameters": {}})",
                {"", {{"weather", "{}"}, {"rain", "{}"}}});
  expect_format("llama3", R"({"type": "function", "name": "weather", "parameters": {"n": 12.5e3}})",
                {"", {{"weather", R"({"n": 12.5e3})"}}});
  // JSON that is an answer.
  expect_format("llama3", R"({"name": "Ada", "age": 36})", {R"({"name": "Ada", "age": 36})", {}});
  expect_format("llama3", R"({"a": [1, 2]} is JSON)", {R"({"a": [1, 2]} is JSON)", {}});
}

TEST(ToolFormat, mistral) {
  expect_format("mistral", R"([TOOL_CALLS][{"name": "weather", "arguments": {"city": "Oslo"}}])",
                {"", {{"weather", R"({"city": "Oslo"})"}}});
  expect_format("mistral",
                R"(I look. [TOOL_CALLS] [{"name": "rain", "arguments": {}}, {"name": "weather", "arguments": {}}])",
                {"I look.", {{"rain", "{}"}, {"weather", "{}"}}});
  expect_format("mistral",
                R"([TOOL_CALLS]weather[ARGS]{"city": "Oslo"}[TOOL_CALLS]rain[CALL_ID]123456789[ARGS]{"a": 1})",
                {"", {{"weather", R"({"city": "Oslo"})"}, {"rain", R"({"a": 1})"}}});
  expect_format("mistral", R"([TOOL_CALLS]rain{"a": 1})", {"", {{"rain", R"({"a": 1})"}}});
  expect_format("mistral", R"([TOOL_CALLS]snow{"a": 1})", {R"([TOOL_CALLS]snow{"a": 1})", {}});
  expect_format("mistral", R"([TOOL_CALLS][{"name": "snow"}])", {R"([TOOL_CALLS][{"name": "snow"}])", {}});
}

TEST(ToolFormat, function_tag) {
  expect_format("function_tag", R"(<function=weather>{"city": "Oslo"}</function><function=rain>{}</function>)",
                {"", {{"weather", R"({"city": "Oslo"})"}, {"rain", "{}"}}});
  expect_format("function_tag", "Well: <function=snow>{}</function>", {"Well: <function=snow>{}</function>", {}});
}

TEST(ToolFormat, functionary) {
  expect_format("functionary", "all\nLet me see.>>>weather\n{\"city\": \"Oslo\"}>>>rain\n{}",
                {"Let me see.", {{"weather", R"({"city": "Oslo"})"}, {"rain", "{}"}}});
  expect_format("functionary", "all\nIt rains.", {"It rains.", {}});
  expect_format("functionary", "weather\n{\"city\": \"Oslo\"}", {"", {{"weather", R"({"city": "Oslo"})"}}});
}

TEST(ToolFormat, qwen3_coder) {
  const ToolNames names = {
      {"weather",
       R"({"properties":{"city":{"type":"string"},"days":{"type":"integer"},"note":{"type":["null","string"]}}})"},
      "rain"};
  const auto expect = [&](std::string_view text, const Read& expected) {
    expect_reads([&] { return find_tool_format("qwen3_coder")->make(names); }, text, expected);
  };
  expect(
      "<tool_call>\n<function=weather>\n<parameter=city>\nOslo \"N\"\nthere\n</parameter>\n<parameter=days>\n3\n"
      "</parameter>\n</function>\n</tool_call>",
      {"", {{"weather", R"({"city": "Oslo \"N\"\nthere", "days": 3})"}}});
  // A text stays one whatever it looks like; a null only where the schema has one.
  expect(
      "<tool_call>\n<function=weather>\n<parameter=city>\n3\n</parameter>\n<parameter=note>\nnull\n</parameter>\n"
      "</function>\n</tool_call>",
      {"", {{"weather", R"({"city": "3", "note": null})"}}});
  // What no schema names is JSON, or Python, where it is that.
  expect(
      "Let me see.\n<tool_call>\n<function=rain>\n<parameter=a>\n[1, {\"b\": 2}]\n</parameter>\n<parameter=c>\nTrue\n"
      "</parameter>\n<parameter=d>\nsome words\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=rain>\n"
      "</function>\n</tool_call>",
      {"Let me see.", {{"rain", R"({"a": [1, {"b": 2}], "c": true, "d": "some words"})"}, {"rain", "{}"}}});
  expect("<tool_call>\n<function=snow>\n</function>\n</tool_call>",
         {"<tool_call>\n<function=snow>\n</function>\n</tool_call>", {}});
  expect("<tool_call>\nno", {"<tool_call>\nno", {}});
}

TEST(ToolFormat, deepseek) {
  // V3.1, then V3 and R1.
  expect_format(
      "deepseek",
      "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{\"city\": \"Oslo\"}<｜tool▁call▁end｜>"
      "<｜tool▁call▁begin｜>rain<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      {"I look.", {{"weather", R"({"city": "Oslo"})"}, {"rain", "{}"}}});
  expect_format(
      "deepseek",
      "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": \"Oslo\"}\n```"
      "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>rain\n```json\n{\"a\": 1}\n```"
      "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
      {"", {{"weather", R"({"city": "Oslo"})"}, {"rain", R"({"a": 1})"}}});
  const std::string foreign =
      "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>snow<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
  expect_format("deepseek", foreign, {foreign, {}});
  expect_format("deepseek", "<｜tool▁calls▁begin｜>well", {"<｜tool▁calls▁begin｜>well", {}});
}

TEST(ToolFormat, pythonic) {
  expect_format(
      "pythonic", R"([weather(city="Oslo"), rain(a=1, b='it\'s', c=[True, None, {'d': -2.5e3}],)])",
      {"",
       {{"weather", R"({"city": "Oslo"})"}, {"rain", R"({"a": 1, "b": "it's", "c": [true, null, {"d": -2.5e3}]})"}}});
  expect_format("pythonic", "<|python_start|>[rain()]<|python_end|>", {"", {{"rain", "{}"}}});
  expect_format("pythonic", R"([weather(city="a)],b")])", {"", {{"weather", R"({"city": "a)],b"})"}}});
  for (const char* text :
       {"[1, 2, 3]", "[snow()]", "[rain(x)]", "[rain(a=open('f'))]", "[rain(", "[] is empty", "[rain]"})
    expect_format("pythonic", text, {text, {}});
}

TEST(ToolFormat, what_grammars_hold_to_calls) {
  expect_reads([] { return make_named_call("weather"); }, R"({"city": "Oslo"})",
               {"", {{"weather", R"({"city": "Oslo"})"}}});
  expect_reads([] { return make_call_list(kNames); },
               R"([{"name": "rain", "parameters": {"a": 1}}, {"name": "weather", "parameters": {}}])",
               {"", {{"rain", R"({"a": 1})"}, {"weather", "{}"}}});
}

TEST(ToolFormat, a_call_is_told_before_it_is_whole) {
  const auto parser = find_tool_format("hermes")->make(kNames);
  ToolEvents events;
  parser->push(R"(<tool_call>{"name": "rain", "arguments": {"a": "lo)", &events);
  const ToolEvents expected = {{ToolEvent::Kind::kCall, "rain"}, {ToolEvent::Kind::kArguments, R"({"a": "lo)"}};
  EXPECT_EQ(events, expected);
}

TEST(ToolFormat, content_is_held_back_no_longer_than_it_may_be_a_mark) {
  const auto parser = find_tool_format("hermes")->make(kNames);
  ToolEvents events;
  parser->push("a <tool", &events);
  EXPECT_EQ(events, (ToolEvents{{ToolEvent::Kind::kContent, "a"}}));
  events.clear();
  parser->push("s>", &events);
  EXPECT_EQ(events, (ToolEvents{{ToolEvent::Kind::kContent, " <tools>"}}));
}

// Any bytes: no crash, and nothing lost but marks and spaces.
TEST(ToolFormat, random_text_ends_well_in_every_format) {
  const std::vector<std::string> parts = {"<tool_call>",
                                          "</tool_call>",
                                          "{\"name\": \"rain\"",
                                          ", \"arguments\": {",
                                          "}",
                                          "[TOOL_CALLS]",
                                          "[",
                                          "]",
                                          "[ARGS]",
                                          "\"",
                                          "\\",
                                          "<function=rain>",
                                          ">>>",
                                          "\n",
                                          "rain",
                                          "all",
                                          "{",
                                          ",",
                                          ":",
                                          "<|python_tag|>",
                                          "<parameter=a>",
                                          "</parameter>",
                                          "</function>",
                                          "<｜tool▁calls▁begin｜>",
                                          "<｜tool▁call▁begin｜>",
                                          "<｜tool▁sep｜>",
                                          "<｜tool▁call▁end｜>",
                                          "rain(a=1)",
                                          ";",
                                          " ",
                                          "x"};
  std::mt19937 random(11);
  for (int round = 0; round < 20000; ++round) {
    const ToolFormat& row = tool_format_table()[random() % tool_format_table().size()];
    std::vector<std::string_view> pieces;
    for (size_t n = random() % 20; n > 0; --n) pieces.emplace_back(parts[random() % parts.size()]);
    read_pieces(*row.make(kNames), pieces);
  }
}

}  // namespace
}  // namespace nereid::server::openai
