// SPDX-License-Identifier: Apache-2.0
// Texts that an answer must never hold, however its tokens cut them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/sample/vocabulary.h"

namespace nereid::sample {

// Immutable. A word is completed by a token that holds it whole, or by one that begins with the rest of it after a text
// that ends with its start: both sets are found once, so a step only compares the ends of texts.
class BadWords {
 public:
  BadWords() = default;
  // The vocabulary must outlive it.
  BadWords(std::span<const std::string> words, const Vocabulary& vocabulary);

  // Bytes of the answer's end that matter.
  size_t tail_bytes() const { return tail_bytes_; }
  // Calls ban(token) for each token that would complete a word after `tail` (the answer's last tail_bytes(), or more).
  template <typename Ban>
  void for_each(std::string_view tail, Ban ban) const {
    for (int32_t token : always_) ban(token);
    for (const Rest& r : rests_) {
      if (!tail.ends_with(r.start)) continue;
      for (int32_t token : r.tokens) ban(token);
    }
  }

 private:
  struct Rest {
    std::string start;
    std::span<const int32_t> tokens;  // of the vocabulary, that begin with what follows the start
  };
  std::vector<int32_t> always_;
  std::vector<Rest> rests_;
  size_t tail_bytes_ = 0;
};

}  // namespace nereid::sample
