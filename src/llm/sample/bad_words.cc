// SPDX-License-Identifier: Apache-2.0
// Finds the tokens that could complete a word.
#include "llm/sample/bad_words.h"

#include <algorithm>

namespace nereid::sample {

BadWords::BadWords(std::span<const std::string> words, const Vocabulary& vocabulary) {
  for (size_t t = 0; t < vocabulary.size(); ++t) {
    const std::string& piece = vocabulary.pieces()[t];
    const bool holds = std::any_of(words.begin(), words.end(),
                                   [&](const std::string& w) { return piece.find(w) != std::string::npos; });
    if (holds) always_.push_back(static_cast<int32_t>(t));
  }
  for (const std::string& word : words) {
    tail_bytes_ = std::max(tail_bytes_, word.size() - 1);
    for (size_t i = 1; i < word.size(); ++i) {
      const auto tokens = vocabulary.beginning_with(std::string_view(word).substr(i));
      if (!tokens.empty()) rests_.push_back({word.substr(0, i), tokens});
    }
  }
}

}  // namespace nereid::sample
