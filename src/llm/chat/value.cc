// SPDX-License-Identifier: Apache-2.0
// Values: makers, truth, hashing, and the dict that keeps its order.
#include "llm/chat/value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "llm/chat/operators.h"

namespace nereid::chat {
namespace {

constexpr size_t kNowhere = ~size_t{0};
constexpr size_t kManyEntries = 12;

constexpr std::array<std::string_view, 18> kTypeNames = {"missing",
                                                         "Undefined",
                                                         "NoneType",
                                                         "bool",
                                                         "int",
                                                         "float",
                                                         "str",
                                                         "list",
                                                         "tuple",
                                                         "range",
                                                         "dict_view",
                                                         "generator",
                                                         "dict",
                                                         "Namespace",
                                                         "LoopContext",
                                                         "function",
                                                         "builtin_function_or_method",
                                                         "Macro"};

}  // namespace

Value Value::boolean(bool v) {
  Value r(Kind::kBool);
  r.integer_ = v ? 1 : 0;
  return r;
}

Value Value::integer(int64_t v) {
  Value r(Kind::kInt);
  r.integer_ = v;
  return r;
}

Value Value::real(double v) {
  Value r(Kind::kFloat);
  r.real_ = v;
  return r;
}

Value Value::text(std::string_view v) {
  Value r(Kind::kString);
  r.text_ = v.data();
  r.size_ = v.size();
  return r;
}

Value Value::sequence(Kind kind, Sequence* v) {
  Value r(kind);
  r.object_ = v;
  return r;
}

Value Value::dict(Dict* v, Kind kind) {
  Value r(kind);
  r.object_ = v;
  return r;
}

Value Value::loop(LoopState* v) {
  Value r(Kind::kLoop);
  r.object_ = v;
  return r;
}

Value Value::function(const FunctionRow* v) {
  Value r(Kind::kFunction);
  r.constant_ = v;
  return r;
}

Value Value::method(Method* v) {
  Value r(Kind::kMethod);
  r.object_ = v;
  return r;
}

Value Value::macro(const Macro* v) {
  Value r(Kind::kMacro);
  r.constant_ = v;
  return r;
}

Value Value::undefined(Origin origin, std::string_view name, Kind owner) {
  Value r(Kind::kUndefined);
  r.origin_ = origin;
  r.owner_ = owner;
  r.text_ = name.data();
  r.size_ = name.size();
  return r;
}

double Value::as_double() const {
  return kind_ == Kind::kFloat ? real_ : static_cast<double>(integer_);
}

Value Value::marked(bool markup) const {
  Value r = *this;
  r.markup_ = markup;
  return r;
}

size_t Dict::index_of(const Value& key) const {
  if (entries.size() < kManyEntries) {
    for (size_t i = 0; i < entries.size(); ++i) {
      if (is_same_key(entries[i].key, key)) return i;
    }
    return kNowhere;
  }
  if (positions_.size() != entries.size()) {
    positions_.clear();
    for (size_t i = 0; i < entries.size(); ++i) positions_.emplace(hash_of(entries[i].key), i);
  }
  auto [first, last] = positions_.equal_range(hash_of(key));
  for (; first != last; ++first) {
    if (is_same_key(entries[first->second].key, key)) return first->second;
  }
  return kNowhere;
}

const Value* Dict::find(const Value& key) const {
  const size_t i = index_of(key);
  return i == kNowhere ? nullptr : &entries[i].value;
}

void Dict::set(const Value& key, const Value& value) {
  const size_t i = index_of(key);
  if (i != kNowhere) {
    entries[i].value = value;
    return;
  }
  if (!positions_.empty()) positions_.emplace(hash_of(key), entries.size());
  entries.push_back({key, value});
}

bool Dict::erase(const Value& key) {
  const size_t i = index_of(key);
  if (i == kNowhere) return false;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
  positions_.clear();
  return true;
}

bool is_hashable(const Value& value) {
  auto is_simple = [](const Value& v) {
    return !v.is(Kind::kTuple) && !v.is(Kind::kList) && !v.is_dict() && !v.is_missing();
  };
  if (!value.is(Kind::kTuple)) return is_simple(value);
  return std::all_of(value.as_sequence().items.begin(), value.as_sequence().items.end(), is_simple);
}

size_t hash_of(const Value& value) {
  if (value.is_string()) return std::hash<std::string_view>{}(value.as_text());
  if (value.is_number()) return std::hash<double>{}(value.as_double());
  if (value.is(Kind::kTuple)) {
    size_t h = 17;
    for (const Value& item : value.as_sequence().items) h = h * 31 + hash_of(item);
    return h;
  }
  if (value.is_none() || value.is_undefined()) return static_cast<size_t>(value.kind());
  return std::hash<const void*>{}(value.identity());
}

bool is_true(const Value& value) {
  switch (value.kind()) {
    case Kind::kMissing:
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_double() != 0;
    case Kind::kString:
      return !value.as_text().empty();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kView:
      return !value.as_sequence().items.empty();
    case Kind::kDict:
      return !value.as_dict().entries.empty();
    default:
      return true;
  }
}

std::string_view type_name(Kind kind) {
  return kTypeNames[static_cast<size_t>(kind)];
}

std::string_view type_name(const Value& value) {
  if (value.is(Kind::kView)) return value.as_sequence().label;
  return type_name(value.kind());
}

}  // namespace nereid::chat
