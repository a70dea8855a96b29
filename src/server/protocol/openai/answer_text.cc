// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/answer_text.h"

#include <fmt/format.h>

#include <iterator>

namespace nereid::server::openai {

std::string_view finish_word(TextFinish finish) {
  return finish == TextFinish::kLength ? "length" : "stop";
}

void append_usage(std::string* out, const Usage& usage) {
  fmt::format_to(std::back_inserter(*out),
                 R"({{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
                 R"("prompt_tokens_details":{{"cached_tokens":{}}})",
                 usage.prompt_tokens, usage.answer_tokens, usage.prompt_tokens + usage.answer_tokens,
                 usage.reused_tokens);
  if (usage.thought_tokens >= 0)
    fmt::format_to(std::back_inserter(*out), R"(,"completion_tokens_details":{{"reasoning_tokens":{}}})",
                   usage.thought_tokens);
  *out += '}';
}

std::string error_event(std::string_view error_body) {
  return fmt::format("data: {}\n\n", error_body);
}

std::string random_id(std::string_view prefix, size_t letters, const std::function<uint64_t()>& random) {
  static constexpr std::string_view kLetters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr size_t kLettersPerNumber = 10;  // 62^10 is less than 2^64
  std::string id(prefix);
  uint64_t number = 0;
  for (size_t i = 0; i < letters; ++i, number /= kLetters.size()) {
    if (i % kLettersPerNumber == 0) number = random();
    id += kLetters[number % kLetters.size()];
  }
  return id;
}

}  // namespace nereid::server::openai
