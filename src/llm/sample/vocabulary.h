// SPDX-License-Identifier: Apache-2.0
// What sampling knows of a tokenizer: the bytes of each token and which tokens end a text. Immutable, one a model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::sample {

class Vocabulary {
 public:
  // `pieces[t]` are the bytes token t adds to a text; empty for a token that adds none (control tokens, padding): no
  // grammar allows it but the end tokens. Errors: kInvalidArgument for an end token that is none.
  static Result<Vocabulary> make(std::vector<std::string> pieces, std::vector<int32_t> end_tokens);

  size_t size() const { return pieces_.size(); }
  // Empty where there is no such token.
  std::string_view piece(int32_t token) const {
    return token >= 0 && static_cast<size_t>(token) < pieces_.size()
               ? std::string_view(pieces_[static_cast<size_t>(token)])
               : std::string_view();
  }
  const std::vector<std::string>& pieces() const { return pieces_; }
  const std::vector<int32_t>& end_tokens() const { return end_tokens_; }
  bool is_end(int32_t token) const;
  // The tokens whose bytes begin with `text`, in the order of their bytes. Two binary searches.
  std::span<const int32_t> beginning_with(std::string_view text) const;
  size_t longest_piece() const { return longest_piece_; }

 private:
  Vocabulary() = default;
  std::vector<std::string> pieces_;
  std::vector<int32_t> end_tokens_;
  std::vector<int32_t> by_bytes_;  // tokens that have bytes, in the order of these
  size_t longest_piece_ = 0;
};

}  // namespace nereid::sample
