// SPDX-License-Identifier: Apache-2.0
// What becomes of the parts of a text that match a splitting rule: the five behaviours of the Hugging Face library.
#pragma once

#include <string_view>
#include <vector>

#include "llm/token/pattern.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// Receives the matches of one text from left to right and writes the words.
class PartWriter {
 public:
  PartWriter(std::string_view text, SplitBehavior behavior, bool invert, std::vector<std::string_view>& words)
      : text_(text), behavior_(behavior), invert_(invert), words_(words), first_word_(words.size()) {}

  void match(Span span) {
    if (span.begin > end_) part({end_, span.begin}, false);
    part(span, true);
    end_ = span.end;
  }
  // Writes what follows the last match. Call once, at the end.
  void finish() {
    if (end_ < text_.size()) part({end_, text_.size()}, false);
    if (waiting_) write(*waiting_);
    waiting_ = nullptr;
  }

 private:
  void part(Span span, bool matched);
  void write(Span span) {
    if (span.begin < span.end) words_.push_back(text_.substr(span.begin, span.end - span.begin));
  }
  // Makes the last word reach to `end`; false if there is none.
  bool extend(size_t end);

  std::string_view text_;
  SplitBehavior behavior_;
  bool invert_;
  std::vector<std::string_view>& words_;
  size_t first_word_;
  size_t end_ = 0;
  bool previous_matched_ = false;
  Span pending_;
  const Span* waiting_ = nullptr;  // kMergedWithNext: a match that waits for the part after it
};

}  // namespace nereid::token
