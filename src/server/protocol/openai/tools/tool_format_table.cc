// SPDX-License-Identifier: Apache-2.0
// The formats, one row each.
#include <algorithm>

#include "server/protocol/openai/tools/formats.h"

namespace nereid::server::openai {
namespace {

constexpr std::string_view kHermesMarks[] = {"<tool_call>", "</tool_call>"};
constexpr std::string_view kLlama3Marks[] = {"<|python_tag|>"};
constexpr std::string_view kPythonicMarks[] = {"<|python_start|>", "<|python_end|>", "<|python_tag|>"};
constexpr std::string_view kDeepSeekMarks[] = {"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>",
                                               "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"};
constexpr std::string_view kMistralMarks[] = {"[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"};

// Mistral's templates refuse ids that are not of nine letters and digits.
constexpr ToolFormat kFormats[] = {
    {"hermes", R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)", make_hermes, hermes_frame, kHermesMarks,
     "call_", 24},
    {"llama3", R"({"name": "f", "parameters": {}})", make_llama3, llama3_frame, kLlama3Marks, "call_", 24},
    {"mistral", R"([TOOL_CALLS][{"name": "f", "arguments": {}}])", make_mistral, mistral_frame, kMistralMarks, "", 9},
    {"function_tag", "<function=f>{}</function>", make_function_tag, function_tag_frame, {}, "call_", 24},
    {"qwen3_coder", "<tool_call><function=f></function></tool_call>", make_qwen3_coder, qwen3_coder_frame, kHermesMarks,
     "call_", 24},
    {"deepseek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     make_deepseek, no_frame, kDeepSeekMarks, "call_", 24},
    {"pythonic", "[f()]", make_pythonic, no_frame, kPythonicMarks, "call_", 24},
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
