// SPDX-License-Identifier: Apache-2.0
// The decoder steps of a spec, boiled down to the bytes of each token and what to do at the ends of the text.
//
// Bytes of consecutive tokens simply follow one another; that is what lets text be streamed token by token.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/token/string_table.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

class Decoder {
 public:
  static Result<Decoder> make(const TokenizerSpec& spec);

  size_t size() const { return pieces_.size(); }
  // The bytes of a token inside a text; id must be in range.
  std::string_view piece(int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  // The same where it is the first token of the text.
  std::string_view first_piece(int32_t id) const;
  // Whether first_piece() applies to the next token as well if the text is still empty.
  bool first_until_text() const { return first_until_text_; }
  // How many leading characters equal to strip_char() go from the whole text (beyond what first_piece() does).
  uint32_t strip_start() const { return strip_start_; }
  uint32_t strip_stop() const { return strip_stop_; }
  char strip_char() const { return strip_char_; }
  // A token's trailing space that goes when it is the last (BPEDecoder).
  bool drops_last_space() const { return drops_last_space_; }

 private:
  // What first_piece() does to a token's bytes.
  enum class FirstRule : uint8_t { kSame, kDropSpace, kDropMarked, kWordPiece };
  StringTable pieces_;
  StringTable first_pieces_;       // kWordPiece only
  std::vector<bool> drops_space_;  // kDropMarked only: tokens whose leading space stands for U+2581
  bool first_until_text_ = false;
  FirstRule first_rule_ = FirstRule::kSame;
  uint32_t strip_start_ = 0, strip_stop_ = 0;
  char strip_char_ = ' ';
  bool drops_last_space_ = false;
};

// WordPiece's tidying of one token's text: no space before punctuation, English contractions joined.
std::string clean_up(std::string text);

}  // namespace nereid::token
