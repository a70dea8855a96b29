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

ToolFrame hermes_frame(std::string_view name);
ToolFrame llama3_frame(std::string_view name);
ToolFrame mistral_frame(std::string_view name);
ToolFrame function_tag_frame(std::string_view name);
ToolFrame functionary_frame(std::string_view name);

}  // namespace nereid::server::openai
