// SPDX-License-Identifier: Apache-2.0
// Every real template of the llama-cpp-python package against jinja2's own renderings
// (tests/data/chat/make_goldens.py).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "llm/chat/chat_template.h"

namespace nereid::chat {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string fnv1a(std::string_view bytes) {
  uint64_t h = 0xCBF29CE484222325;
  for (char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return fmt::format("{:016x}", h);
}

RenderInput input_of(const OrderedJson& conversation) {
  RenderInput input;
  input.messages = conversation.at("messages");
  input.tools = conversation.value("tools", OrderedJson());
  input.add_generation_prompt = conversation.value("add_generation_prompt", false);
  input.bos_token = "<s>";
  input.eos_token = "</s>";
  input.variables = conversation.value("variables", OrderedJson());
  std::tm now{};
  now.tm_year = 125, now.tm_mon = 6, now.tm_mday = 26, now.tm_hour = 12, now.tm_min = 34, now.tm_sec = 56;
  now.tm_wday = 6, now.tm_yday = 206;
  input.now = now;
  return input;
}

void expect_golden(const Result<std::string>& rendered, const OrderedJson& golden) {
  if (golden.contains("text")) {
    ASSERT_TRUE(rendered.is_ok()) << rendered.status().message();
    EXPECT_EQ(*rendered, golden["text"].get<std::string>());
  } else if (golden.contains("hash")) {
    ASSERT_TRUE(rendered.is_ok()) << rendered.status().message();
    EXPECT_EQ(rendered->size(), golden["bytes"].get<size_t>());
    EXPECT_EQ(fnv1a(*rendered), golden["hash"].get<std::string>()) << *rendered;
  } else if (golden.contains("raises")) {
    ASSERT_FALSE(rendered.is_ok()) << *rendered;
    EXPECT_EQ(rendered.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(rendered.status().message(), golden["raises"].get<std::string>());
  } else {
    ASSERT_FALSE(rendered.is_ok()) << golden["fails"] << " expected, found:\n" << *rendered;
    EXPECT_TRUE(rendered.status().message().starts_with("chat template, line ")) << rendered.status().message();
  }
}

TEST(ChatGoldens, every_real_template_renders_as_jinja2_does) {
  const fs::path root = NEREID_SOURCE_DIR;
  const fs::path folder = root / "build/models/llama_cpp_python-0.3.36/vendor/llama.cpp/models/templates";
  if (!fs::exists(folder)) GTEST_SKIP() << folder << " is absent; scripts/fetch_models brings it.";
  const OrderedJson goldens = OrderedJson::parse(read_file(root / "tests/data/chat/goldens.json"));
  size_t count = 0;
  for (const auto& [file, results] : goldens.at("templates").items()) {
    SCOPED_TRACE(file);
    if (!fs::exists(folder / file)) {
      ADD_FAILURE() << "the template is absent.";
      continue;
    }
    auto parsed = ChatTemplate::parse(read_file(folder / file));
    ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
    for (const auto& [name, golden] : results.items()) {
      SCOPED_TRACE(name);
      expect_golden(parsed->render(input_of(goldens.at("conversations").at(name))), golden);
      ++count;
    }
  }
  EXPECT_GE(count, 1800u);
}

}  // namespace
}  // namespace nereid::chat
