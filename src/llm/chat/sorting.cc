// SPDX-License-Identifier: Apache-2.0
// A merge sort of our own: the standard library's assumes a consistent order, which templates (NaN!) need not have.
#include "llm/chat/sorting.h"

#include <algorithm>
#include <charconv>

#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {

Result<Value> value_at_path(Interpreter& in, const Value& item, const Value& path) {
  if (path.is_missing() || path.is_none()) return item;
  if (!path.is_string()) return in.item_of(item, path);
  Value value = item;
  std::string_view rest = path.as_text();
  for (;;) {
    const size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    int64_t number = 0;
    const auto [end, ec] = std::from_chars(part.data(), part.data() + part.size(), number);
    const bool is_number = ec == std::errc() && end == part.data() + part.size() && part[0] != '-';
    NEREID_TRY(value, in.item_of(value, is_number ? Value::integer(number) : Value::text(part)));
    if (dot == rest.size()) return value;
    rest.remove_prefix(dot + 1);
  }
}

Result<Value> key_at_path(Interpreter& in, const Value& item, const Value& path, bool case_sensitive) {
  NEREID_TRY(Value key, value_at_path(in, item, path));
  if (case_sensitive || !key.is_string()) return key;
  return in.heap().text(to_lower(key.as_text()));
}

Status sort_keyed(Interpreter& in, std::vector<Keyed>* items, bool reverse) {
  std::vector<Keyed> other(items->size());
  const size_t n = items->size();
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      const size_t middle = std::min(low + width, n);
      const size_t high = std::min(low + 2 * width, n);
      size_t left = low;
      size_t right = middle;
      for (size_t out = low; out < high; ++out) {
        bool takes_right = left == middle;
        if (!takes_right && right < high) {
          const Value& a = (*items)[reverse ? left : right].key;
          const Value& b = (*items)[reverse ? right : left].key;
          NEREID_TRY(const int c, order(in.heap(), a, b));
          takes_right = c == -1;
        }
        other[out] = (*items)[takes_right ? right++ : left++];
      }
    }
    items->swap(other);
    if (in.heap().is_spent()) return in.heap().status();
  }
  return Status::ok();
}

}  // namespace nereid::chat
