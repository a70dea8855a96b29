// SPDX-License-Identifier: Apache-2.0
// Iteration and length.
#include "llm/chat/iterate.h"

#include "llm/chat/interpreter.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {

bool is_iterable(const Value& value) {
  return value.is_sequence() || value.is_dict() || value.is_string() || value.is_undefined() || value.is(Kind::kLoop);
}

Result<Iterator> Iterator::over(const Value& value) {
  if (!is_iterable(value) || value.is(Kind::kLoop)) {
    return invalid_argument("'{}' object is not iterable.", type_name(value));
  }
  Iterator it;
  it.source_ = value;
  return it;
}

bool Iterator::next(Value* out) {
  if (source_.is_string()) {
    const std::string_view text = source_.as_text();
    if (at_ >= text.size()) return false;
    const size_t n = code_point_at(text, at_).bytes;
    *out = Value::text(text.substr(at_, n));
    at_ += n;
    return true;
  }
  if (source_.is_dict()) {
    const auto& entries = source_.as_dict().entries;
    if (at_ >= entries.size()) return false;
    *out = entries[at_++].key;
    return true;
  }
  if (!source_.is_sequence()) return false;  // undefined
  Sequence& s = source_.as_sequence();
  size_t& at = source_.is(Kind::kGenerator) ? s.cursor : at_;
  if (at >= s.items.size()) return false;
  *out = s.items[at++];
  return true;
}

Result<std::vector<Value>> all_items(Heap& heap, const Value& value) {
  NEREID_TRY(Iterator it, Iterator::over(value));
  std::vector<Value> out;
  Value item;
  while (it.next(&item)) {
    if ((out.size() & 0xFFF) == 0 && !heap.work(64)) return heap.status();
    out.push_back(item);
  }
  heap.work(out.size() / 16);
  return out;
}

Result<int64_t> length_of(Heap& heap, const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kString:
      heap.work(value.as_text().size() / 64);
      return static_cast<int64_t>(count_code_points(value.as_text()));
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kView:
      return static_cast<int64_t>(value.as_sequence().items.size());
    case Kind::kDict:
      return static_cast<int64_t>(value.as_dict().entries.size());
    default:
      return invalid_argument("object of type '{}' has no len().", type_name(value));
  }
}

}  // namespace nereid::chat
