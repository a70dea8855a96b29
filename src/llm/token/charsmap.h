// SPDX-License-Identifier: Apache-2.0
// SentencePiece's compiled normalisation rules: a double-array trie (Darts-clone units) of the texts to replace, and
// their replacements.
//
// Layout, little endian: u32 size of the trie in bytes; the trie's u32 units; the replacements, each ended by NUL. The
// value of a matched text is the byte offset of its replacement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::token {

class Charsmap {
 public:
  Charsmap() = default;  // replaces nothing
  static Result<Charsmap> parse(std::string_view bytes);

  struct Match {
    size_t size = 0;  // of the text replaced
    std::string_view replacement;
  };
  // The longest, or the shortest, beginning of `text` that has a rule.
  std::optional<Match> longest_prefix(std::string_view text) const { return prefix(text, false); }
  std::optional<Match> shortest_prefix(std::string_view text) const { return prefix(text, true); }

 private:
  std::optional<Match> prefix(std::string_view text, bool shortest) const;

  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace nereid::token
