// SPDX-License-Identifier: Apache-2.0
// One function a format makes its parser, one its frame; tool_format_table.cc lists them.
#pragma once

#include "server/protocol/openai/tools/tool_format.h"

namespace nereid::server::openai {

std::unique_ptr<ToolParser> make_hermes(ToolNames names);
std::unique_ptr<ToolParser> make_llama3(ToolNames names);
std::unique_ptr<ToolParser> make_mistral(ToolNames names);
std::unique_ptr<ToolParser> make_function_tag(ToolNames names);
std::unique_ptr<ToolParser> make_functionary(ToolNames names);
std::unique_ptr<ToolParser> make_qwen3_coder(ToolNames names);
std::unique_ptr<ToolParser> make_deepseek(ToolNames names);
std::unique_ptr<ToolParser> make_pythonic(ToolNames names);

ToolFrame hermes_frame(std::string_view name);
ToolFrame llama3_frame(std::string_view name);
ToolFrame mistral_frame(std::string_view name);
ToolFrame function_tag_frame(std::string_view name);
ToolFrame functionary_frame(std::string_view name);
ToolFrame qwen3_coder_frame(std::string_view name);
// Of formats whose marks are special tokens, which no grammar over text can write, or whose arguments are no JSON.
inline ToolFrame no_frame(std::string_view /*name*/) {
  return {};
}

}  // namespace nereid::server::openai
