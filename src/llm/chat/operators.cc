// SPDX-License-Identifier: Apache-2.0
// Comparison and membership; arithmetic has its own file.
#include "llm/chat/operators.h"

#include <algorithm>
#include <cmath>

namespace nereid::chat {
namespace {

bool is_equal_number(const Value& a, const Value& b) {
  if (a.is_integral() && b.is_integral()) return a.as_int() == b.as_int();
  return a.as_double() == b.as_double();
}

bool is_equal_at(Heap& heap, const Value& a, const Value& b, int depth);

bool is_equal_dict(Heap& heap, const Dict& a, const Dict& b, int depth) {
  if (a.entries.size() != b.entries.size()) return false;
  return std::all_of(a.entries.begin(), a.entries.end(), [&](const Dict::Entry& entry) {
    const Value* other = b.find(entry.key);
    return other && is_equal_at(heap, entry.value, *other, depth + 1);
  });
}

bool is_equal_at(Heap& heap, const Value& a, const Value& b, int depth) {
  if (depth > kMaxDepth || !heap.work(1)) return false;
  if (a.is_number() && b.is_number()) return is_equal_number(a, b);
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kString:
      heap.work(std::min(a.as_text().size(), b.as_text().size()) / 32);
      return a.as_text() == b.as_text();
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange: {
      const auto& x = a.as_sequence().items;
      const auto& y = b.as_sequence().items;
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), [&](const Value& p, const Value& q) {
               return is_equal_at(heap, p, q, depth + 1);
             });
    }
    case Kind::kDict:
      return is_equal_dict(heap, a.as_dict(), b.as_dict(), depth);
    default:
      return a.identity() == b.identity();
  }
}

Result<int> order_at(Heap& heap, const Value& a, const Value& b, std::string_view op, int depth) {
  heap.work(1);
  if (a.is_undefined()) return undefined_error(a);
  if (b.is_undefined()) return undefined_error(b);
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int() ? 1 : 0;
    const double x = a.as_double();
    const double y = b.as_double();
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  if (a.is_string() && b.is_string()) {
    heap.work(std::min(a.as_text().size(), b.as_text().size()) / 32);
    const int c = a.as_text().compare(b.as_text());  // the order of UTF-8 bytes is that of code points
    return c < 0 ? -1 : c > 0 ? 1 : 0;
  }
  const bool are_lists = a.kind() == b.kind() && (a.is(Kind::kList) || a.is(Kind::kTuple));
  if (!are_lists || depth > kMaxDepth) {
    return invalid_argument("'{}' is not supported between instances of '{}' and '{}'.", op, type_name(a),
                            type_name(b));
  }
  const auto& x = a.as_sequence().items;
  const auto& y = b.as_sequence().items;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) {
    if (is_equal_at(heap, x[i], y[i], depth + 1)) continue;
    return order_at(heap, x[i], y[i], op, depth + 1);
  }
  return x.size() < y.size() ? -1 : x.size() > y.size() ? 1 : 0;
}

}  // namespace

bool is_same_key(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return a.as_text() == b.as_text();
  if (a.is_number() && b.is_number()) return is_equal_number(a, b);
  if (a.kind() != b.kind()) return false;
  if (a.is_none() || a.is_undefined()) return true;
  if (!a.is(Kind::kTuple)) return a.identity() == b.identity();
  const auto& x = a.as_sequence().items;
  const auto& y = b.as_sequence().items;
  return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), is_same_key);
}

bool is_equal(Heap& heap, const Value& a, const Value& b) {
  return is_equal_at(heap, a, b, 0);
}

bool is_identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return a.as_int() == b.as_int();
    case Kind::kFloat:
      return a.as_double() == b.as_double();
    case Kind::kString:
      return a.as_text() == b.as_text();
    default:
      return a.identity() == b.identity();
  }
}

Result<int> order(Heap& heap, const Value& a, const Value& b, std::string_view op) {
  return order_at(heap, a, b, op, 0);
}

Result<bool> compare(Heap& heap, std::string_view op, const Value& a, const Value& b) {
  if (op == "==") return is_equal(heap, a, b);
  if (op == "!=") return !is_equal(heap, a, b);
  if (op == "in") return contains(heap, b, a);
  if (op == "notin") {
    NEREID_TRY(const bool found, contains(heap, b, a));
    return !found;
  }
  NEREID_TRY(const int c, order(heap, a, b, op));
  if (c == 2) return false;
  if (op == "<") return c < 0;
  if (op == "<=") return c <= 0;
  if (op == ">") return c > 0;
  return c >= 0;
}

Result<bool> contains(Heap& heap, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::kUndefined:
      return false;
    case Kind::kString:
      if (item.is_undefined()) return undefined_error(item);
      if (!item.is_string()) {
        return invalid_argument("'in <string>' requires string as left operand, not {}.", type_name(item));
      }
      heap.work(container.as_text().size() / 32);
      return container.as_text().find(item.as_text()) != std::string_view::npos;
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
    case Kind::kView:
    case Kind::kGenerator: {
      Sequence& s = container.as_sequence();
      for (size_t i = s.cursor; i < s.items.size(); ++i) {
        if (container.is(Kind::kGenerator)) s.cursor = i + 1;
        if (is_equal(heap, s.items[i], item)) return true;
      }
      return false;
    }
    case Kind::kDict:
      if (!is_hashable(item)) return invalid_argument("a value of type '{}' cannot be a key.", type_name(item));
      return container.as_dict().find(item) != nullptr;
    default:
      return invalid_argument("argument of type '{}' is not iterable.", type_name(container));
  }
}

std::string undefined_message(const Value& u) {
  switch (u.origin()) {
    case Origin::kName:
      return fmt::format("'{}' is undefined", u.as_text());
    case Origin::kParameter:
      return fmt::format("parameter '{}' was not provided", u.as_text());
    case Origin::kSentence:
      return std::string(u.as_text());
    case Origin::kAttribute:
      break;
  }
  if (u.owner() == Kind::kNone) return fmt::format("'None' has no attribute '{}'", u.as_text());
  return fmt::format("'{} object' has no attribute '{}'", type_name(u.owner()), u.as_text());
}

Status undefined_error(const Value& u) {
  return invalid_argument("{}.", undefined_message(u));
}

}  // namespace nereid::chat
