// SPDX-License-Identifier: Apache-2.0
// Slices of texts are views where the step is one.
#include "llm/chat/slice.h"

#include <algorithm>

#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

Result<std::optional<int64_t>> part(const Value& v) {
  if (v.is_missing() || v.is_none()) return std::optional<int64_t>();
  if (!v.is_integral()) return invalid_argument("slice indices must be integers or None, found '{}'.", type_name(v));
  return std::optional<int64_t>(v.as_int());
}

struct Bounds {
  int64_t start;
  int64_t stop;
  int64_t step;
};

Result<Bounds> bounds_of(int64_t size, const Value& start, const Value& stop, const Value& step) {
  NEREID_TRY(const auto first, part(start));
  NEREID_TRY(const auto last, part(stop));
  NEREID_TRY(const auto stride, part(step));
  const int64_t by = stride.value_or(1);
  if (by == 0) return invalid_argument("slice step cannot be zero.");
  const int64_t low = by > 0 ? 0 : -1;
  const int64_t high = by > 0 ? size : size - 1;
  auto clamp = [&](std::optional<int64_t> v, int64_t fallback) {
    if (!v) return fallback;
    return std::clamp(*v < 0 ? *v + size : *v, low, high);
  };
  return Bounds{clamp(first, by > 0 ? low : high), clamp(last, by > 0 ? high : low), by};
}

// The positions a slice names, at most `size` of them.
template <typename Take>
void for_each_position(const Bounds& b, int64_t size, Take take) {
  int64_t i = b.start;
  for (int64_t n = 0; n < size && (b.step > 0 ? i < b.stop : i > b.stop); ++n) {
    take(static_cast<size_t>(i));
    if (__builtin_add_overflow(i, b.step, &i)) return;
  }
}

Result<Value> slice_text(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step) {
  const std::string_view text = object.as_text();
  heap.work(text.size() / 32);
  const auto size = static_cast<int64_t>(count_code_points(text));
  NEREID_TRY(const Bounds b, bounds_of(size, start, stop, step));
  const bool markup = object.is_markup();
  if (b.step == 1) {
    if (b.start >= b.stop) return Value::text({}).marked(markup);
    const bool ascii = size == static_cast<int64_t>(text.size());
    const size_t from = ascii ? static_cast<size_t>(b.start) : offset_of(text, static_cast<size_t>(b.start));
    const std::string_view tail = text.substr(from);
    const auto count = static_cast<size_t>(b.stop - b.start);
    return Value::text(tail.substr(0, ascii ? count : offset_of(tail, count))).marked(markup);
  }
  heap.work(text.size());
  const std::vector<std::string_view> points = split_code_points(text);
  TextBuilder out(heap);
  for_each_position(b, size, [&](size_t i) { out.add(points[i]); });
  return out.finish().marked(markup);
}

}  // namespace

Result<Value> slice_of(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is_string()) return slice_text(heap, object, start, stop, step);
  if (!object.is_indexable()) return invalid_argument("'{}' object cannot be sliced.", type_name(object));
  const auto& items = object.as_sequence().items;
  const auto size = static_cast<int64_t>(items.size());
  NEREID_TRY(const Bounds b, bounds_of(size, start, stop, step));
  std::vector<Value> out;
  for_each_position(b, size, [&](size_t i) { out.push_back(items[i]); });
  heap.work(out.size() / 8);
  // Python would make a range of a slice of a range; as a list it differs only when printed.
  return heap.sequence(object.is(Kind::kTuple) ? Kind::kTuple : Kind::kList, std::move(out));
}

Value item_at(Heap& heap, const Value& object, int64_t index) {
  if (object.is_string()) {
    const std::string_view text = object.as_text();
    heap.work(text.size() / 32);
    const auto size = static_cast<int64_t>(count_code_points(text));
    if (index < 0) index += size;
    if (index < 0 || index >= size) return Value();
    const size_t at = offset_of(text, static_cast<size_t>(index));
    return Value::text(text.substr(at, code_point_at(text, at).bytes));
  }
  if (!object.is_indexable()) return Value();
  const auto& items = object.as_sequence().items;
  const auto size = static_cast<int64_t>(items.size());
  if (index < 0) index += size;
  return index < 0 || index >= size ? Value() : items[static_cast<size_t>(index)];
}

}  // namespace nereid::chat
