// SPDX-License-Identifier: Apache-2.0
#include "llm/chat/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "llm/chat/builtin_templates.h"
#include "llm/chat/heap.h"
#include "llm/chat/input.h"

namespace nereid::chat {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<std::string> render(std::string source, RenderInput input = {}, const Limits& limits = {}) {
  auto parsed = ChatTemplate::parse(std::move(source));
  if (!parsed) return parsed.status();
  return parsed->render(input, limits);
}

std::string error_of(std::string source) {
  auto text = render(std::move(source));
  EXPECT_FALSE(text.is_ok()) << *text;
  return text.is_ok() ? "" : text.status().message();
}

TEST(ChatTemplate, errors_name_the_line_and_what_was_found) {
  EXPECT_EQ(error_of("a\nb {{ nope.x }}"), "chat template, line 2: 'nope' is undefined.");
  EXPECT_EQ(error_of("\n\n{% if x %}"), "chat template, line 3: the template ends, but the 'if' block is still open.");
  EXPECT_EQ(error_of("{{ 1 +\n}}"), "chat template, line 2: expected an expression, found 'end of print statement'.");
  EXPECT_EQ(error_of("{% for x in 3 %}{% endfor %}"), "chat template, line 1: 'int' object is not iterable.");
  EXPECT_EQ(error_of("\n{{ 'a'|nope }}"), "chat template, line 2: there is no filter named 'nope'.");
  EXPECT_EQ(error_of("{{ messages[0].content.x }}"), "chat template, line 1: 'list object' has no element 0.");
  EXPECT_THAT(error_of("{% include 'x' %}"), HasSubstr("'include' is not supported"));
  EXPECT_THAT(error_of("{% macro f() %}\n{{ 1 // 0 }}\n{% endmacro %}\n\n{{ f() }}"),
              StartsWith("chat template, line 2: "));
}

TEST(ChatTemplate, raise_exception_gives_exactly_its_message) {
  const auto text = render("x{{ raise_exception('Only user and \"assistant\" roles, not é') }}y");
  ASSERT_FALSE(text.is_ok());
  EXPECT_EQ(text.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(text.status().message(), "Only user and \"assistant\" roles, not é");
}

TEST(ChatTemplate, a_token_the_model_lacks_is_undefined) {
  EXPECT_EQ(*render("[{{ bos_token }}]{{ bos_token is defined }}{{ tools is none }}"), "[]FalseTrue");
  RenderInput input;
  input.bos_token = "<s>";
  EXPECT_EQ(*render("[{{ bos_token }}]{{ bos_token is defined }}", input), "[<s>]True");
}

TEST(ChatTemplate, variables_may_replace_the_usual_names) {
  RenderInput input;
  input.bos_token = "<s>";
  input.variables = {{"bos_token", "B"}, {"range", 5}, {"enable_thinking", false}};
  EXPECT_EQ(*render("{{ bos_token }}{{ range }}{{ enable_thinking }}", input), "B5False");
}

TEST(ChatTemplate, rendering_never_changes_the_callers_messages) {
  RenderInput input;
  input.messages = OrderedJson::parse(R"([{"role": "user", "content": "x"}])");
  const OrderedJson before = input.messages;
  EXPECT_EQ(*render("{% set _ = messages.append(1) %}{% set _ = messages[0].pop('role') %}{{ messages }}", input),
            "[{'content': 'x'}, 1]");
  EXPECT_EQ(input.messages, before);
}

TEST(ChatTemplate, one_template_renders_on_many_threads) {
  const ChatTemplate shared =
      *ChatTemplate::parse("{% for m in messages %}{{ loop.index }}{{ m.content|upper }}{% endfor %}");
  RenderInput input;
  for (int i = 0; i < 50; ++i) input.messages.push_back({{"content", "abc"}});
  const std::string expected = *shared.render(input);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(*shared.render(input), expected);
    });
  }
  for (std::thread& t : threads) t.join();
}

// Each would hang, fill the memory or overflow the stack without the budget (a small one here, to be quick).
TEST(ChatTemplate, hostile_templates_end_with_an_error) {
  const std::string nested_loops =
      "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% "
      "endfor %}";
  const std::vector<std::string> templates = {
      nested_loops,
      "{{ 'x' * 999999999999 }}",
      "{{ [1] * 999999999999 }}",
      "{{ 'x'.center(99999999999) }}",
      "{{ '%999999999d' % 1 }}",
      "{{ '{:>99999999}'.format(1)|replace('', 'x' * 1000000) }}",
      "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson "
      "}}",
      "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l == "
      "(ns.l + []) }}{{ ns.l }}",
      "{% set l = [] %}{% for i in range(99999) %}{% set _ = l.extend(l + [1]) %}{% endfor %}",
      "{% set l = [1] %}{% for x in l %}{% set _ = l.append(x) %}{% endfor %}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(n) %}{{ f(n + 1) }}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
      "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
      "{% macro m() %}{{ caller() }}{% endmacro %}{% macro f() %}{% call m() %}{{ f() }}{% endcall %}{% endmacro %}{{ "
      "f() }}",
      "{% for x in range(99999) %}{{ 'x' * 100000 }}{% endfor %}",
      "{{ 'a,'.join(range(99999)|map('string')|list * 1000) * 1000 }}",
      "{{ range(99999)|batch(1)|map('list')|map('join')|list|string|replace('', range(99999)|join) }}",
      "{{ 'x'|indent(999999999) }}",
      "{{ [1]|tojson(indent=999999999) }}",
      "{{ 2 ** 99999999 }}",
      "{{ 1.5|round(99999999999) }}{{ 1|round(-99999999999999) }}{{ [][0].x }}",
      "{{ range(0, 9223372036854775807, 1)|list }}",
      "{{ strftime_now('%Y' * 999999) }}",
      "{{ '{:.999999999f}'.format(1.0) * 9999999 }}",
      "{{ 'x'|slice(999999999)|list }}",
      "{{ ['x']|batch(999999999999, 'y')|list }}",
      std::string(100'000, '(') + "1",
      "{{ " + std::string(100'000, '(') + " }}",
      "{{ " + std::string(100'000, '[') + " }}",
      "{{ " + std::string(100'000, '-') + "1 }}{{ nope.x }}",
      "{{ [][0].x if " +
          [] {
            std::string s;
            for (int i = 0; i < 50'000; ++i) s += "not ";
            return s;
          }() +
          "false }}{{ nope.x }}",
      "{{ 1" +
          [] {
            std::string s;
            for (int i = 0; i < 100'000; ++i) s += "+1";
            return s;
          }() +
          " }}",
      "{{ 'x'" +
          [] {
            std::string s;
            for (int i = 0; i < 100'000; ++i) s += "|upper";
            return s;
          }() +
          " }}",
      "{{ x" +
          [] {
            std::string s;
            for (int i = 0; i < 100'000; ++i) s += ".x";
            return s;
          }() +
          " }}",
      [] {
        std::string s;
        for (int i = 0; i < 100'000; ++i) s += "{% if true %}";
        return s;
      }(),
      [] {
        std::string s;
        for (int i = 0; i < 100'000; ++i) s += "{% for x in [1] %}";
        return s;
      }(),
  };
  for (const std::string& source : templates) {
    SCOPED_TRACE(source.substr(0, 150));
    const auto start = std::chrono::steady_clock::now();
    Limits limits;
    limits.memory_bytes = 32 << 20;
    limits.work_units = 3'000'000;
    const auto text = render(source, {}, limits);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 30.0);
    if (source[0] == '(') {
      EXPECT_TRUE(text.is_ok());  // not a tag at all
      continue;
    }
    ASSERT_FALSE(text.is_ok()) << text->size() << " bytes";
    EXPECT_THAT(text.status().message(), StartsWith("chat template, line 1: "));
  }
}

TEST(ChatTemplate, the_output_is_bounded) {
  Limits limits;
  limits.output_bytes = 1000;
  EXPECT_EQ(render("{% for i in range(100) %}0123456789{% endfor %}", {}, limits).status().code(), StatusCode::kOk);
  const auto text = render("{% for i in range(101) %}0123456789{% endfor %}", {}, limits);
  EXPECT_EQ(text.status().code(), StatusCode::kExhausted);
}

TEST(ChatTemplate, a_long_conversation_stays_within_the_budget) {
  RenderInput input;
  for (int i = 0; i < 2000; ++i)
    input.messages.push_back({{"role", i % 2 ? "assistant" : "user"}, {"content", std::string(2000, 'x')}});
  const auto text =
      render("{% for m in messages %}{{ '<' + m['role'] + '>' + m['content'] | trim + '\n' }}{% endfor %}", input);
  ASSERT_TRUE(text.is_ok()) << text.status().message();
  EXPECT_GT(text->size(), 4'000'000u);
}

TEST(ChatTemplate, broken_utf8_passes_through) {
  EXPECT_EQ(*render("\xFF{{ '\xC3(' | upper }}{{ '\xE2\x82'|length }}"), "\xFF\xC3(2");
}

// What llama.cpp's tests expect of these formats.
TEST(BuiltinTemplates, write_turns_as_the_models_were_trained_with) {
  RenderInput input;
  input.messages = OrderedJson::parse(R"([{"role": "system", "content": "You are a helpful assistant"},
    {"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi there"},
    {"role": "user", "content": "Who are you"}, {"role": "assistant", "content": "   I am an assistant   "},
    {"role": "user", "content": "Another question"}])");
  input.add_generation_prompt = true;
  input.bos_token = "";
  input.eos_token = "</s>";
  auto text = [&](std::string_view name) { return *builtin_template(name)->render(input); };
  EXPECT_EQ(text("chatml"),
            "<|im_start|>system\nYou are a helpful assistant<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
            "<|im_start|>assistant\nHi there<|im_end|>\n<|im_start|>user\nWho are you<|im_end|>\n"
            "<|im_start|>assistant\n   I am an assistant   <|im_end|>\n<|im_start|>user\nAnother question<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_EQ(text("gemma"),
            "<start_of_turn>user\nYou are a helpful assistant\n\nHello<end_of_turn>\n<start_of_turn>model\nHi there"
            "<end_of_turn>\n<start_of_turn>user\nWho are you<end_of_turn>\n<start_of_turn>model\nI am an assistant"
            "<end_of_turn>\n<start_of_turn>user\nAnother question<end_of_turn>\n<start_of_turn>model\n");
  EXPECT_EQ(
      text("llama3"),
      "<|start_header_id|>system<|end_header_id|>\n\nYou are a helpful assistant<|eot_id|><|start_header_id|>user"
      "<|end_header_id|>\n\nHello<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nHi there<|eot_id|>"
      "<|start_header_id|>user<|end_header_id|>\n\nWho are you<|eot_id|><|start_header_id|>assistant"
      "<|end_header_id|>\n\nI am an assistant<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nAnother question"
      "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(text("mistral"),
            "[INST] You are a helpful assistant\n\nHello [/INST] Hi there</s>[INST] Who are you [/INST]"
            "    I am an assistant   </s>[INST] Another question [/INST]");
  EXPECT_EQ(
      text("zephyr"),
      "<|system|>\nYou are a helpful assistant</s>\n<|user|>\nHello</s>\n<|assistant|>\nHi there</s>\n<|user|>\n"
      "Who are you</s>\n<|assistant|>\n   I am an assistant   </s>\n<|user|>\nAnother question</s>\n<|assistant|>\n");
  input.bos_token = "<s>";
  EXPECT_EQ(
      text("llama2"),
      "<s>[INST] <<SYS>>\nYou are a helpful assistant\n<</SYS>>\n\nHello [/INST] Hi there </s><s>[INST] Who are you "
      "[/INST] I am an assistant </s><s>[INST] Another question [/INST]");
}

TEST(BuiltinTemplates, an_unknown_name_lists_the_known_ones) {
  EXPECT_EQ(builtin_template("x").status().message(),
            "there is no built-in chat template 'x'; there are chatml, gemma, llama2, llama3, mistral, zephyr.");
}

TEST(ChatInput, messages_are_normalised_as_transformers_does) {
  const OrderedJson messages = *parse_ordered_json(
      R"([{"role": "assistant", "content": null, "reasoning": "r", "tool_calls": [{"a": null}]}, {"content": "x", "thinking": null}])");
  EXPECT_EQ(
      normalize_messages(messages)->dump(),
      R"([{"thinking":"r","role":"assistant","reasoning":"r","tool_calls":[{"a":null}],"reasoning_content":"r"},{"content":"x"}])");
  EXPECT_EQ(normalize_messages({{"role", "user"}}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(normalize_messages(OrderedJson::array({{{"role", "user"}}, 5})).status().message(),
              HasSubstr("message 2"));
}

TEST(ChatInput, json_keeps_the_order_of_names_and_refuses_depth) {
  EXPECT_EQ(parse_ordered_json(R"({"b": 1, "a": [2, {"z": 0, "y": 1}]})")->dump(), R"({"b":1,"a":[2,{"z":0,"y":1}]})");
  EXPECT_THAT(parse_ordered_json(std::string(1'000'000, '[')).status().message(), HasSubstr("more than 128 deep"));
  EXPECT_FALSE(parse_ordered_json("[1,").is_ok());
  EXPECT_TRUE(parse_ordered_json("\"" + std::string(500, '[') + "\"").is_ok());
}

TEST(ChatInput, times_are_read_with_their_day_of_the_week) {
  RenderInput input;
  input.now = *parse_iso_time("2025-07-26T12:34:56");
  EXPECT_EQ(*render("{{ strftime_now('%A %d %B %Y %H:%M:%S %j') }}", input), "Saturday 26 July 2025 12:34:56 207");
  EXPECT_TRUE(parse_iso_time("2024-02-29").is_ok());
  for (const char* wrong : {"", "2025-02-30", "2025-13-01", "26 July", "2025-07-26T", "2025-07-26x"}) {
    EXPECT_FALSE(parse_iso_time(wrong).is_ok()) << wrong;
  }
}

}  // namespace
}  // namespace nereid::chat
