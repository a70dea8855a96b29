// SPDX-License-Identifier: Apache-2.0
// Python's iteration protocol over values.
#pragma once

#include <vector>

#include "base/status.h"
#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// Goes over a list, tuple, range, view, generator (which it consumes), the keys of a dict or the characters of a text.
// It sees what is appended meanwhile, as Python's does.
class Iterator {
 public:
  Iterator() = default;
  // Error: "'int' object is not iterable".
  static Result<Iterator> over(const Value& value);
  bool next(Value* out);

 private:
  Value source_;
  size_t at_ = 0;
};

bool is_iterable(const Value& value);
// All items at once.
Result<std::vector<Value>> all_items(Heap& heap, const Value& value);
// len(): error for what has none (numbers, generators).
Result<int64_t> length_of(Heap& heap, const Value& value);

}  // namespace nereid::chat
