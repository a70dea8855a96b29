// SPDX-License-Identifier: Apache-2.0
// One field of a format: sign, digits, grouping and padding.
#include <charconv>
#include <cmath>
#include <cstdio>

#include "llm/chat/format.h"
#include "llm/chat/operators.h"
#include "llm/chat/text.h"
#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

constexpr int64_t kMaxPrecision = 1000;

bool is_align(char c) {
  return c == '<' || c == '>' || c == '^' || c == '=';
}

// A run of decimal digits; -1 when it is too long for any use.
int64_t take_number(std::string_view* text) {
  int64_t n = 0;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    n = n < 0 || n > 100'000'000 ? -1 : n * 10 + (text->front() - '0');
    text->remove_prefix(1);
  }
  return n;
}

bool take_char(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

std::string group_digits(std::string_view digits, char separator, size_t size) {
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % size == 0) out += separator;
    out += digits[i];
  }
  return out;
}

std::string integer_digits(uint64_t magnitude, char type) {
  switch (type) {
    case 'x':
      return fmt::format("{:x}", magnitude);
    case 'X':
      return fmt::format("{:X}", magnitude);
    case 'o':
      return fmt::format("{:o}", magnitude);
    case 'b':
      return fmt::format("{:b}", magnitude);
    default:
      return fmt::format("{}", magnitude);
  }
}

// '#' keeps the point, and the zeros of 'g'. (printf and Python agree here.)
std::string alternate_digits(double magnitude, const FormatSpec& spec) {
  const bool is_percent = spec.type == '%';
  const auto precision = static_cast<int>(spec.precision < 0 ? 6 : std::min(kMaxPrecision, spec.precision));
  const char type = is_percent ? 'f' : spec.type == 0 || spec.type == 'n' ? 'g' : spec.type;
  const char format[] = {'%', '#', '.', '*', type, 0};
  std::string out(400 + static_cast<size_t>(precision), '\0');
  const double shown = is_percent ? magnitude * 100 : magnitude;
  const int n = std::snprintf(out.data(), out.size(), format, precision, shown);
  out.resize(static_cast<size_t>(std::max(0, n)));
  return is_percent ? out + "%" : out;
}

// Without type Python prints the shortest digits, or with a precision as 'g' but never without a decimal.
std::string real_digits(double magnitude, const FormatSpec& spec) {
  if (spec.is_alternate && std::isfinite(magnitude)) return alternate_digits(magnitude, spec);
  const auto precision = static_cast<int>(std::min(kMaxPrecision, spec.precision));
  if (std::isnan(magnitude)) return spec.type == 'F' || spec.type == 'E' || spec.type == 'G' ? "NAN" : "nan";
  if (std::isinf(magnitude)) return spec.type == 'F' || spec.type == 'E' || spec.type == 'G' ? "INF" : "inf";
  const int six = precision < 0 ? 6 : precision;
  switch (spec.type) {
    case 'f':
    case 'F':
      return fmt::format("{:.{}f}", magnitude, six);
    case 'e':
      return fmt::format("{:.{}e}", magnitude, six);
    case 'E':
      return fmt::format("{:.{}E}", magnitude, six);
    case 'g':
      return fmt::format("{:.{}g}", magnitude, six);
    case 'G':
      return fmt::format("{:.{}G}", magnitude, six);
    case '%':
      return fmt::format("{:.{}f}%", magnitude * 100, six);
    default:
      break;
  }
  if (precision < 0) return float_text(magnitude);
  std::string text = fmt::format("{:.{}g}", magnitude, precision);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

void pad(TextBuilder& out, std::string_view sign, std::string_view body, const FormatSpec& spec, char own_align) {
  const auto length = static_cast<int64_t>(count_code_points(sign) + count_code_points(body));
  const auto missing = static_cast<size_t>(std::max<int64_t>(0, spec.width - length));
  const char align = spec.align ? spec.align : own_align;
  const size_t before = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
  if (align == '=') out.add(sign);
  out.repeat(spec.fill, before);
  if (align != '=') out.add(sign);
  out.add(body);
  out.repeat(spec.fill, missing - before);
}

Status write_number(TextBuilder& out, const Value& value, const FormatSpec& spec) {
  const bool wants_real = spec.type && std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos;
  bool is_negative = false;
  std::string body;
  size_t whole = 0;  // digits before the point, which grouping parts
  std::string prefix;
  size_t group = 3;
  if (value.is_integral() && !wants_real) {
    const int64_t v = value.as_int();
    is_negative = v < 0;
    if (spec.type == 'c') {
      append_code_point(&body, v >= 0 && v <= 0x10FFFF ? static_cast<int32_t>(v) : 0xFFFD);
      pad(out, {}, body, spec, '<');
      return Status::ok();
    }
    body = integer_digits(is_negative ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v), spec.type);
    if (body.size() < static_cast<size_t>(spec.min_digits))
      body.insert(0, static_cast<size_t>(spec.min_digits) - body.size(), '0');
    whole = body.size();
    if (spec.type && std::string_view("xXob").find(spec.type) != std::string_view::npos) {
      group = 4;
      if (spec.is_alternate) prefix = {'0', spec.type};
    }
  } else {
    const double v = value.as_double();
    is_negative = std::signbit(v) && !std::isnan(v);
    body = real_digits(std::abs(v), spec);
    whole = std::min(body.find_first_not_of("0123456789"), body.size());
  }
  if (spec.grouping)
    body = group_digits(std::string_view(body).substr(0, whole), spec.grouping, group) + body.substr(whole);
  const std::string sign = (is_negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign)) + prefix;
  pad(out, sign, body, spec, '>');
  return Status::ok();
}

bool is_one_of(char type, std::string_view types) {
  return type != 0 && types.find(type) != std::string_view::npos;
}

Result<FormatSpec> parse_spec(std::string_view text, bool is_number) {
  FormatSpec spec;
  bool has_fill = false;
  const std::string_view whole = text;
  const size_t first = text.empty() ? 0 : code_point_at(text, 0).bytes;
  if (first < text.size() && is_align(text[first])) {
    spec.fill = text.substr(0, first);
    has_fill = true;
    spec.align = text[first];
    text.remove_prefix(first + 1);
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  if (!text.empty() && (text[0] == '+' || text[0] == '-' || text[0] == ' ')) {
    spec.sign = text[0];
    text.remove_prefix(1);
  }
  spec.is_alternate = take_char(&text, '#');
  if (!has_fill && !text.empty() && text[0] == '0') {
    spec.fill = "0";
    if (!spec.align && is_number) spec.align = '=';
  }
  spec.width = take_number(&text);
  if (!text.empty() && (text[0] == ',' || text[0] == '_')) {
    spec.grouping = text[0];
    text.remove_prefix(1);
  }
  if (take_char(&text, '.')) spec.precision = take_number(&text);
  if (!text.empty()) {
    spec.type = text[0];
    text.remove_prefix(1);
  }
  const bool known = !spec.type || std::string_view("sdnxXobceEfFgG%").find(spec.type) != std::string_view::npos;
  if (!text.empty() || !known || spec.width < 0) return invalid_argument("invalid format specifier '{}'.", whole);
  return spec;
}

// What Python refuses though each part is right.
Status check_spec(const Value& value, const FormatSpec& spec) {
  if (value.is_string()) {
    if (spec.type && spec.type != 's')
      return invalid_argument("unknown format code '{}' for object of type 'str'.", spec.type);
    if (spec.sign != '-' || spec.align == '=' || spec.is_alternate || spec.grouping) {
      return invalid_argument("a str takes no sign, '=', '#' or grouping in its format specifier.");
    }
    return Status::ok();
  }
  const bool is_float = value.is(Kind::kFloat);
  if (spec.type == 's' || (is_float && is_one_of(spec.type, "dxXobc"))) {
    return invalid_argument("unknown format code '{}' for object of type '{}'.", spec.type, type_name(value));
  }
  const bool as_integer = !is_float && !is_one_of(spec.type, "eEfFgG%");
  if (as_integer && spec.precision >= 0) return invalid_argument("precision not allowed in integer format specifier.");
  const bool may_group = spec.grouping == ',' ? !is_one_of(spec.type, "xXobcn") : !is_one_of(spec.type, "cn");
  if (spec.grouping && !may_group) return invalid_argument("cannot specify '{}' with '{}'.", spec.grouping, spec.type);
  if (spec.type == 'c' && (spec.sign != '-' || spec.is_alternate))
    return invalid_argument("sign and '#' are not allowed with 'c'.");
  return Status::ok();
}

}  // namespace

Status write_with_spec(TextBuilder& out, const Value& value, std::string_view spec_text) {
  if (spec_text.empty()) return write_str(out, value), Status::ok();
  if (!value.is_string() && !value.is_number()) {
    return invalid_argument("unsupported format string passed to {}.__format__.", type_name(value));
  }
  NEREID_TRY(const FormatSpec spec, parse_spec(spec_text, value.is_number()));
  NEREID_RETURN_IF_ERROR(check_spec(value, spec));
  return write_formatted(out, value.is(Kind::kBool) ? Value::integer(value.as_int()) : value, spec);
}

Status write_formatted(TextBuilder& out, const Value& value, const FormatSpec& spec) {
  if (value.is_number() && spec.type != 's') return write_number(out, value, spec);
  const Value text = to_str(out.heap(), value);
  std::string_view shown = text.as_text();
  if (spec.precision >= 0) shown = shown.substr(0, offset_of(shown, static_cast<size_t>(spec.precision)));
  pad(out, {}, shown, spec, '<');
  return Status::ok();
}

}  // namespace nereid::chat
