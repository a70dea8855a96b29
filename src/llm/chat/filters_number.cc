// SPDX-License-Identifier: Apache-2.0
// Numbers from text and back, and the default filter.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "llm/chat/filters.h"
#include "llm/chat/interpreter.h"
#include "llm/chat/operators.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

// What Python allows around and inside of a number: white space, a sign, underscores between digits.
bool clean_number(std::string_view text, std::string* digits, bool* is_negative) {
  text = strip(text, Side::kBoth);
  *is_negative = text.starts_with('-');
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.front() == '_' || text.back() == '_' || text.find("__") != std::string_view::npos)
    return false;
  digits->assign(text);
  std::erase(*digits, '_');
  return true;
}

bool parse_int(std::string_view text, int base, int64_t* out) {
  std::string digits;
  bool is_negative = false;
  if (!clean_number(text, &digits, &is_negative) || !is_ascii(digits)) return false;
  std::string_view d = digits;
  const char letter = d.size() > 1 && d[0] == '0' ? static_cast<char>(d[1] | 0x20) : ' ';
  const int named = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  if (named != 0 && (base == named || base == 0)) {
    d.remove_prefix(2);
    base = named;
  }
  if (base == 0) base = 10;
  if (d.empty() || d[0] == '-') return false;
  const auto [end, ec] = std::from_chars(d.data(), d.data() + d.size(), *out, base);
  if (ec != std::errc() || end != d.data() + d.size()) return false;
  if (is_negative) *out = -*out;
  return true;
}

bool parse_float(std::string_view text, double* out) {
  std::string digits;
  bool is_negative = false;
  if (!clean_number(text, &digits, &is_negative) || digits[0] == '-') return false;
  std::string lower = to_lower(digits);
  if (lower == "infinity") lower = "inf";
  const auto [end, ec] = std::from_chars(lower.data(), lower.data() + lower.size(), *out);
  if (end != lower.data() + lower.size() || ec == std::errc::invalid_argument) return false;
  if (ec == std::errc::result_out_of_range) *out = lower.find("e-") == std::string::npos ? HUGE_VAL : 0;
  if (is_negative) *out = -*out;
  return true;
}

FilterResult round_half_even(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 22) return Value::real(value);
  if (precision >= 0) {
    double rounded = value;
    const std::string text = fmt::format("{:.{}f}", value, precision);
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return Value::real(rounded);
  }
  const double unit = std::pow(10.0, static_cast<double>(-precision));
  return Value::real(std::nearbyint(value / unit) * unit);
}

int64_t round_int(int64_t value, int64_t precision) {
  if (precision >= 0) return value;
  if (precision < -18) return 0;
  int64_t unit = 1;
  for (int64_t i = 0; i < -precision; ++i) unit *= 10;
  int64_t down = value / unit * unit;
  if (value % unit < 0) down = static_cast<int64_t>(static_cast<uint64_t>(down) - static_cast<uint64_t>(unit));
  const int64_t rest = value - down;
  const bool up = rest > unit - rest || (rest == unit - rest && (down / unit) % 2 != 0);
  int64_t rounded = 0;
  return up && !__builtin_add_overflow(down, unit, &rounded) ? rounded : down;
}

}  // namespace

FilterResult filter_default(Interpreter&, const Value& self, const Args& args) {
  const bool use_default = self.is_undefined() || (args.flag(1, false) && !is_true(self));
  if (!use_default) return self;
  return args.has(0) ? args[0] : Value::text({});
}

FilterResult filter_abs(Interpreter&, const Value& self, const Args&) {
  if (self.is(Kind::kFloat)) return Value::real(std::abs(self.as_double()));
  if (!self.is_integral()) return invalid_argument("bad operand type for abs(): '{}'.", type_name(self));
  return self.as_int() < 0 ? negative(self) : Value::integer(self.as_int());
}

FilterResult filter_int(Interpreter&, const Value& self, const Args& args) {
  if (self.is_undefined()) return undefined_error(self);
  const Value fallback = args.has(0) ? args[0] : Value::integer(0);
  NEREID_TRY(const int64_t base, args.integer(1, 10));
  if (base != 0 && (base < 2 || base > 36)) return invalid_argument("int() base must be >= 2 and <= 36, or 0.");
  int64_t whole = 0;
  double real = 0;
  if (self.is_integral()) return Value::integer(self.as_int());
  if (self.is(Kind::kFloat)) {
    real = self.as_double();
    if (std::isinf(real)) return invalid_argument("cannot convert float infinity to integer.");
  } else if (!self.is_string()) {
    return fallback;
  } else if (parse_int(self.as_text(), static_cast<int>(base), &whole)) {
    return Value::integer(whole);
  } else if (!parse_float(self.as_text(), &real)) {
    return fallback;
  }
  return std::isfinite(real) ? to_integer(real) : fallback;
}

FilterResult filter_float(Interpreter&, const Value& self, const Args& args) {
  if (self.is_undefined()) return undefined_error(self);
  double real = 0;
  if (self.is_number()) return Value::real(self.as_double());
  if (self.is_string() && parse_float(self.as_text(), &real)) return Value::real(real);
  return args.has(0) ? args[0] : Value::real(0);
}

FilterResult filter_round(Interpreter&, const Value& self, const Args& args) {
  NEREID_TRY(const int64_t precision, args.integer(0, 0));
  NEREID_TRY(const std::string_view method, args.text(1, "common"));
  if (method != "common" && method != "ceil" && method != "floor") {
    return invalid_argument("method must be common, ceil or floor, found '{}'.", method);
  }
  if (self.is_undefined()) return undefined_error(self);
  if (!self.is_number()) return invalid_argument("type {} doesn't define __round__ method.", type_name(self));
  if (method == "common") {
    if (self.is_integral()) return Value::integer(round_int(self.as_int(), precision));
    return round_half_even(self.as_double(), precision);
  }
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = self.as_double() * unit;
  // Python's ceil is an integer, which has no minus zero.
  return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit + 0.0);
}

}  // namespace nereid::chat
