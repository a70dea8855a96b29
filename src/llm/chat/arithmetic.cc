// SPDX-License-Identifier: Apache-2.0
// + - * / // % ** on numbers, texts and lists, with Python's rounding towards minus infinity.
#include <algorithm>
#include <cmath>

#include "llm/chat/format.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"

namespace nereid::chat {
namespace {

Status bad_operands(std::string_view op, const Value& a, const Value& b) {
  return invalid_argument("unsupported operand type(s) for {}: '{}' and '{}'.", op, type_name(a), type_name(b));
}

Status overflow(std::string_view op) {
  return invalid_argument("the result of {} does not fit into 64 bits.", op);
}

Result<Value> power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0) return invalid_argument("0 cannot be raised to a negative power.");
    return Value::real(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  }
  int64_t result = 1;
  for (bool first = true; exponent > 0; exponent >>= 1, first = false) {
    if (!first && __builtin_mul_overflow(base, base, &base)) return overflow("**");
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return overflow("**");
  }
  return Value::integer(result);
}

Result<Value> on_integers(std::string_view op, int64_t a, int64_t b) {
  int64_t r = 0;
  if (op == "+") return __builtin_add_overflow(a, b, &r) ? Result<Value>(overflow(op)) : Value::integer(r);
  if (op == "-") return __builtin_sub_overflow(a, b, &r) ? Result<Value>(overflow(op)) : Value::integer(r);
  if (op == "*") return __builtin_mul_overflow(a, b, &r) ? Result<Value>(overflow(op)) : Value::integer(r);
  if (op == "**") return power(a, b);
  if (b == 0) return invalid_argument("division by zero.");
  if (op == "/") return Value::real(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {  // INT64_MIN / -1 traps
    if (op == "%") return Value::integer(0);
    return __builtin_sub_overflow(int64_t{0}, a, &r) ? Result<Value>(overflow(op)) : Value::integer(r);
  }
  const int64_t quotient = a / b;
  const int64_t rest = a % b;
  const bool round_down = rest != 0 && (rest < 0) != (b < 0);
  if (op == "//") return Value::integer(quotient - (round_down ? 1 : 0));
  return Value::integer(rest + (round_down ? b : 0));
}

Result<Value> on_reals(std::string_view op, double a, double b) {
  if (op == "+") return Value::real(a + b);
  if (op == "-") return Value::real(a - b);
  if (op == "*") return Value::real(a * b);
  if (op == "**") return Value::real(std::pow(a, b));
  if (b == 0) return invalid_argument("float division by zero.");
  if (op == "/") return Value::real(a / b);
  double rest = std::fmod(a, b);
  if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
  if (op == "%") return Value::real(rest == 0 ? std::copysign(0.0, b) : rest);
  return Value::real(std::round((a - rest) / b));
}

Result<Value> repeat(Heap& heap, const Value& what, int64_t times) {
  const size_t count = times < 0 ? 0 : static_cast<size_t>(times);
  if (what.is_string()) return TextBuilder(heap).repeat(what.as_text(), count).finish().marked(what.is_markup());
  const auto& items = what.as_sequence().items;
  if (items.empty() || count == 0) return heap.sequence(what.kind(), {});
  if (count > heap.limits().memory_bytes / sizeof(Value) / items.size()) {
    heap.take(heap.limits().memory_bytes + 1);
    return heap.status();
  }
  std::vector<Value> out;
  out.reserve(items.size() * count);
  for (size_t i = 0; i < count; ++i) out.insert(out.end(), items.begin(), items.end());
  return heap.sequence(what.kind(), std::move(out));
}

bool is_repeatable(const Value& v) {
  return v.is_string() || v.is(Kind::kList) || v.is(Kind::kTuple);
}

Value add_texts(Heap& heap, const Value& a, const Value& b) {
  TextBuilder out(heap);
  if (a.is_markup() == b.is_markup()) return out.add(a.as_text()).add(b.as_text()).finish().marked(a.is_markup());
  add_part(out, a);
  add_part(out, b);
  return out.finish().marked();
}

Value add_sequences(Heap& heap, const Value& a, const Value& b) {
  std::vector<Value> items = a.as_sequence().items;
  const auto& more = b.as_sequence().items;
  items.insert(items.end(), more.begin(), more.end());
  return heap.sequence(a.kind(), std::move(items));
}

}  // namespace

Result<Value> arithmetic(Heap& heap, std::string_view op, const Value& a, const Value& b) {
  if (a.is_undefined()) return undefined_error(a);
  if (op == "%" && a.is_string()) return format_percent(heap, a, b);
  if (b.is_undefined()) return undefined_error(b);
  if (a.is_integral() && b.is_integral()) return on_integers(op, a.as_int(), b.as_int());
  if (a.is_number() && b.is_number()) return on_reals(op, a.as_double(), b.as_double());
  if (op == "+") {
    if (a.is_string() && b.is_string()) return add_texts(heap, a, b);
    if (a.kind() == b.kind() && (a.is(Kind::kList) || a.is(Kind::kTuple))) return add_sequences(heap, a, b);
    if (a.is_string()) return invalid_argument("can only concatenate str (not \"{}\") to str.", type_name(b));
  }
  if (op == "*") {
    if (is_repeatable(a) && b.is_integral()) return repeat(heap, a, b.as_int());
    if (is_repeatable(b) && a.is_integral()) return repeat(heap, b, a.as_int());
  }
  return bad_operands(op, a, b);
}

Result<Value> to_integer(double a) {
  if (a >= -0x1p63 && a < 0x1p63) return Value::integer(static_cast<int64_t>(a));
  return invalid_argument("the number {} does not fit into a 64-bit integer.", a);
}

Result<Value> negative(const Value& a) {
  if (a.is_undefined()) return undefined_error(a);
  if (a.is_integral()) return on_integers("-", 0, a.as_int());
  if (a.is(Kind::kFloat)) return Value::real(-a.as_double());
  return invalid_argument("bad operand type for unary -: '{}'.", type_name(a));
}

Result<Value> positive(const Value& a) {
  if (a.is_undefined()) return undefined_error(a);
  if (a.is_integral()) return Value::integer(a.as_int());
  if (a.is(Kind::kFloat)) return a;
  return invalid_argument("bad operand type for unary +: '{}'.", type_name(a));
}

}  // namespace nereid::chat
