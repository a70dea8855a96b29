// SPDX-License-Identifier: Apache-2.0
// Tokens sorted by their bytes, so that a prefix is a range.
#include "llm/sample/vocabulary.h"

#include <algorithm>

namespace nereid::sample {

Result<Vocabulary> Vocabulary::make(std::vector<std::string> pieces, std::vector<int32_t> end_tokens) {
  Vocabulary v;
  v.pieces_ = std::move(pieces);
  for (int32_t token : end_tokens) {
    if (token >= 0 && static_cast<size_t>(token) < v.pieces_.size()) continue;
    return invalid_argument("token {} is said to end a text, but the vocabulary has {} tokens.", token,
                            v.pieces_.size());
  }
  std::sort(end_tokens.begin(), end_tokens.end());
  end_tokens.erase(std::unique(end_tokens.begin(), end_tokens.end()), end_tokens.end());
  v.end_tokens_ = std::move(end_tokens);
  for (size_t i = 0; i < v.pieces_.size(); ++i) {
    if (v.pieces_[i].empty()) continue;
    v.by_bytes_.push_back(static_cast<int32_t>(i));
    v.longest_piece_ = std::max(v.longest_piece_, v.pieces_[i].size());
  }
  std::sort(v.by_bytes_.begin(), v.by_bytes_.end(), [&](int32_t a, int32_t b) {
    const int order = v.piece(a).compare(v.piece(b));
    return order != 0 ? order < 0 : a < b;
  });
  return v;
}

bool Vocabulary::is_end(int32_t token) const {
  return std::binary_search(end_tokens_.begin(), end_tokens_.end(), token);
}

std::span<const int32_t> Vocabulary::beginning_with(std::string_view text) const {
  const auto begin = std::partition_point(by_bytes_.begin(), by_bytes_.end(),
                                          [&](int32_t t) { return piece(t).substr(0, text.size()) < text; });
  const auto end =
      std::partition_point(begin, by_bytes_.end(), [&](int32_t t) { return piece(t).substr(0, text.size()) == text; });
  return {begin, end};
}

}  // namespace nereid::sample
