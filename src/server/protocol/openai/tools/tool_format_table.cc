// SPDX-License-Identifier: Apache-2.0
// The formats, one row each.
#include <algorithm>

#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kHermesMarks[] = {"<tool_call>", "</tool_call>"};
constexpr std::string_view kLlama3Marks[] = {"<|python_tag|>"};
constexpr std::string_view kMistralMarks[] = {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};

// Mistral's templates refuse ids that are not of nine letters and digits.
constexpr ToolFormat kFormats[] = {
    {"hermes", R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)", make_hermes, hermes_frame, kHermesMarks,
     "call_", 24},
    {"llama3", R"({"name": "f", "parameters": {}})", make_llama3, llama3_frame, kLlama3Marks, "call_", 24},
    {"mistral", R"([TOOL_CALLS][{"name": "f", "arguments": {}}])", make_mistral, mistral_frame, kMistralMarks, "", 9},
    {"function_tag", "<function=f>{}</function>", make_function_tag, function_tag_frame, {}, "call_", 24},
    {"functionary", ">>>f\n{}", make_functionary, functionary_frame, {}, "call_", 24},
};

}  // namespace

std::span<const ToolFormat> tool_format_table() {
  return kFormats;
}

const ToolFormat* find_tool_format(std::string_view name) {
  const auto* row =
      std::find_if(std::begin(kFormats), std::end(kFormats), [&](const ToolFormat& f) { return f.name == name; });
  return row == std::end(kFormats) ? nullptr : row;
}

}  // namespace nereid::server::openai
