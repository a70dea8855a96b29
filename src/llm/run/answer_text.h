// SPDX-License-Identifier: Apache-2.0
// From tokens to text that is certain: whole characters, and nothing that may yet become a stop text.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "llm/sample/stop_matcher.h"
#include "llm/token/tokenizer.h"

namespace nereid::llm {

// One an answer; the tokenizer must outlive it.
class AnswerText {
 public:
  AnswerText(const token::Tokenizer& tokenizer, std::vector<std::string> stops)
      : characters_(tokenizer), stops_(std::move(stops)) {
    characters_.continue_text();
  }
  // The text that this token makes certain; may be empty.
  std::string push(int32_t token) { return stops_.push(characters_.push(token)); }
  bool is_stopped() const { return stops_.is_stopped(); }
  // The answer has ended: what was held back.
  std::string finish() {
    if (is_stopped()) return "";
    std::string rest = stops_.push(characters_.flush());
    return is_stopped() ? rest : rest + stops_.finish();
  }

 private:
  token::IncrementalDetokenizer characters_;
  sample::StopMatcher stops_;
};

}  // namespace nereid::llm
