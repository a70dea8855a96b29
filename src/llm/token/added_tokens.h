// SPDX-License-Identifier: Apache-2.0
// Cuts a text at the tokens that are found as a whole, before the model sees the rest.
#pragma once

#include <string_view>
#include <vector>

#include "llm/token/literal_matcher.h"
#include "llm/token/normalizer.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

class AddedTokens {
 public:
  // A token, or text between tokens.
  struct Segment {
    int32_t id = kNoToken;
    std::string_view text;
  };

  // Those of `added` that are looked for in the raw text, or in the normalized text (then with normalized texts).
  static Result<AddedTokens> make(const std::vector<AddedToken>& added, bool normalized, const Normalizer& normalizer);

  bool empty() const { return matcher_.empty(); }
  // Appends the segments of `text`; special tokens count only with `parse_special`.
  void split(std::string_view text, bool parse_special, std::vector<Segment>& segments) const;

 private:
  struct Rule {
    int32_t id;
    bool special, left_strip, right_strip, single_word;
  };
  LiteralMatcher matcher_;  // values are places in rules_
  std::vector<Rule> rules_;
};

}  // namespace nereid::token
