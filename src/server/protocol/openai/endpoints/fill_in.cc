// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/fill_in.h"

#include <array>

namespace nereid::server::openai {
namespace {

struct Marks {
  std::string_view before, after, gap;  // as tokens of the vocabulary
};
constexpr Marks kMarks[] = {
    {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"},     // Qwen 2.5 Coder, CodeGemma
    {"<fim_prefix>", "<fim_suffix>", "<fim_middle>"},           // StarCoder, Granite
    {"<fim-prefix>", "<fim-suffix>", "<fim-middle>"},           // SantaCoder
    {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"},     // DeepSeek Coder
    {"<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"},  // GLM 4
};

std::optional<int32_t> token_of(const TextModel& model, std::string_view mark) {
  const std::vector<int32_t> ids = model.tokenize(mark, false, true);
  if (ids.size() != 1 || model.token_text(ids[0]) != mark) return std::nullopt;
  return ids[0];
}

}  // namespace

std::optional<std::vector<int32_t>> fill_in_prompt(const TextModel& model, std::string_view before,
                                                   std::string_view after) {
  for (const Marks& marks : kMarks) {
    const auto first = token_of(model, marks.before);
    const auto second = token_of(model, marks.after);
    const auto third = token_of(model, marks.gap);
    if (!first || !second || !third) continue;
    std::vector<int32_t> prompt = model.tokenize("", true, false);
    const auto add = [&](int32_t mark, std::string_view text) {
      prompt.push_back(mark);
      const std::vector<int32_t> ids = model.tokenize(text, false, false);
      prompt.insert(prompt.end(), ids.begin(), ids.end());
    };
    add(*first, before);
    add(*second, after);
    prompt.push_back(*third);
    return prompt;
  }
  return std::nullopt;
}

}  // namespace nereid::server::openai
