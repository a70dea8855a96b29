// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/tool_format.h"

#include <algorithm>
#include <initializer_list>

namespace nereid::server {
namespace {

// The first row of which all marks stand in the template is its format: the more telling ones stand above.
struct Row {
  std::string_view format;
  std::string_view marks[2];
};
constexpr Row kRows[] = {
    {"mistral", {"[TOOL_CALLS]", ""}},
    {"deepseek", {"<｜tool▁calls▁begin｜>", ""}},
    {"pythonic", {"func_name1(params_name1", ""}},
    {"qwen3_coder", {"<function=", "<parameter="}},
    {"llama3", {"ipython", "\"parameters\""}},
    {"llama3", {"<|python_tag|>", ""}},
    {"functionary", {">>>all", ""}},
    {"function_tag", {"<function=", "</function>"}},
    {"hermes", {"<tool_call>", ""}},
};

}  // namespace

std::string_view tool_format_of(std::string_view chat_template) {
  const auto has = [&](std::string_view mark) { return chat_template.find(mark) != std::string_view::npos; };
  if (!has("tools")) return "";
  for (const Row& row : kRows)
    if (has(row.marks[0]) && has(row.marks[1])) return row.format;
  return "";
}

std::string_view thought_format_of(std::string_view chat_template) {
  const auto has = [&](std::string_view mark) { return chat_template.find(mark) != std::string_view::npos; };
  if (has("</think>") || has("<think>")) return "think";
  if (has("[THINK]")) return "mistral";
  return has("<|START_THINKING|>") ? "command" : "";
}

}  // namespace nereid::server
