// SPDX-License-Identifier: Apache-2.0
// Finds which of many literal strings stands at a place of a text: special tokens, user-defined tokens.
//
// At each place the longest string wins. A place costs two table look-ups unless a string may start there, then one
// hash look-up for each distinct length.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "llm/token/string_table.h"

namespace nereid::token {

class LiteralMatcher {
 public:
  struct Match {
    size_t begin = std::string_view::npos;
    size_t size = 0;
    int32_t value = -1;
  };

  // Empty strings are ignored; of equal strings the first counts.
  void add(std::string_view literal, int32_t value);
  void build();  // once, after the last add()
  bool empty() const { return literals_->empty(); }

  // The longest literal that starts at `position`, accepted by `accept(match)`; size 0 if none.
  template <typename Accept>
  Match match_at(std::string_view text, size_t position, const Accept& accept) const {
    if (!may_start(text, position)) return {};
    for (const uint32_t length : lengths_) {
      if (length > text.size() - position) continue;
      const int32_t found = index_.find(text.substr(position, length));
      if (found == StringIndex::kNone) continue;
      const Match match{position, length, values_[static_cast<size_t>(found)]};
      if (accept(match)) return match;
    }
    return {};
  }
  Match match_at(std::string_view text, size_t position) const {
    return match_at(text, position, [](const Match&) { return true; });
  }
  // The first place at or after `from` where one stands.
  template <typename Accept>
  Match find(std::string_view text, size_t from, const Accept& accept) const {
    for (size_t i = from; i < text.size() && !empty(); ++i) {
      if (!starts_[static_cast<unsigned char>(text[i])]) continue;
      if (const Match match = match_at(text, i, accept); match.size) return match;
    }
    return {};
  }

 private:
  bool may_start(std::string_view text, size_t position) const {
    if (literals_->empty() || !starts_[static_cast<unsigned char>(text[position])]) return false;
    if (shortest_ < 2) return true;
    return position + 1 < text.size() && pairs_[pair_of(text, position)];
  }
  static size_t pair_of(std::string_view text, size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[i])) << 8 | static_cast<unsigned char>(text[i + 1]);
  }

  std::unique_ptr<StringTable> literals_ = std::make_unique<StringTable>();  // index_ points to it
  StringIndex index_;
  std::vector<int32_t> values_;
  std::vector<uint32_t> lengths_;  // distinct, longest first
  std::vector<bool> starts_;       // by first byte
  std::vector<bool> pairs_;        // by the first two bytes, if all are that long
  size_t shortest_ = 0;
};

}  // namespace nereid::token
