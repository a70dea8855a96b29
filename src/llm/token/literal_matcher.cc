// SPDX-License-Identifier: Apache-2.0
#include "llm/token/literal_matcher.h"

#include <algorithm>

namespace nereid::token {

void LiteralMatcher::add(std::string_view literal, int32_t value) {
  if (literal.empty()) return;
  literals_->add(literal);
  values_.push_back(value);
}

void LiteralMatcher::build() {
  if (literals_->empty()) return;
  index_ = StringIndex(literals_.get(), literals_->size());
  starts_.assign(256, false);
  pairs_.assign(size_t{1} << 16, false);
  shortest_ = SIZE_MAX;
  for (size_t i = 0; i < literals_->size(); ++i) {
    const std::string_view literal = (*literals_)[i];
    index_.insert(static_cast<int32_t>(i));
    starts_[static_cast<unsigned char>(literal[0])] = true;
    if (literal.size() > 1) pairs_[pair_of(literal, 0)] = true;
    shortest_ = std::min(shortest_, literal.size());
    lengths_.push_back(static_cast<uint32_t>(literal.size()));
  }
  std::sort(lengths_.begin(), lengths_.end(), std::greater<>());
  lengths_.erase(std::unique(lengths_.begin(), lengths_.end()), lengths_.end());
}

}  // namespace nereid::token
