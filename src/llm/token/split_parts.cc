// SPDX-License-Identifier: Apache-2.0
#include "llm/token/split_parts.h"

namespace nereid::token {

bool PartWriter::extend(size_t end) {
  if (words_.size() == first_word_) return false;
  const std::string_view last = words_.back();
  const auto begin = static_cast<size_t>(last.data() - text_.data());
  words_.back() = text_.substr(begin, end - begin);
  return true;
}

void PartWriter::part(Span span, bool matched) {
  matched = matched != invert_;
  switch (behavior_) {
    case SplitBehavior::kIsolated:
      write(span);
      break;
    case SplitBehavior::kRemoved:
      if (!matched) write(span);
      break;
    case SplitBehavior::kContiguous:
      // An empty match has nothing to join, but keeps its neighbours apart.
      if (matched != previous_matched_ || !extend(span.end)) write(span);
      break;
    case SplitBehavior::kMergedWithPrevious:
      if (!(matched && !previous_matched_ && extend(span.end))) write(span);
      break;
    case SplitBehavior::kMergedWithNext:
      if (waiting_) {
        // The last of several matches in a row joins what follows; those before it stand alone.
        if (matched) {
          write(pending_);
        } else {
          span.begin = pending_.begin;
        }
        waiting_ = nullptr;
      }
      if (matched) {
        pending_ = span;
        waiting_ = &pending_;
      } else {
        write(span);
      }
      break;
  }
  previous_matched_ = matched;
}

}  // namespace nereid::token
