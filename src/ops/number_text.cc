// SPDX-License-Identifier: Apache-2.0
#include "ops/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace nereid::ops {
namespace {

// Without what from_chars does not take: spaces around and a plus sign.
std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <typename T>
bool parse(std::string_view text, T& value, std::errc* error = nullptr) {
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != nullptr) *error = ec;
  return end == text.data() + text.size() && (ec == std::errc() || error != nullptr);
}

template <typename T>
std::string text_of(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-INF" : "INF";
  return fmt::format("{}", value);
}

}  // namespace

Result<double> number_from_text(std::string_view text) {
  const std::string_view body = trim(text);
  double value = 0;
  std::errc error{};
  if (!body.empty() && parse(body, value, &error)) {
    if (error == std::errc()) return value;
    // Too large or too small: a wider type tells which, and beyond that the exponent's sign does.
    long double wide = 0;
    if (parse(body, wide)) return static_cast<double>(wide);
    const bool small = body.find("e-") != body.npos || body.find("E-") != body.npos;
    const double magnitude = small ? 0 : std::numeric_limits<double>::infinity();
    return body[0] == '-' ? -magnitude : magnitude;
  }
  return invalid_argument("the text '{}' is no number", text.substr(0, 80));
}

Result<int64_t> whole_from_text(std::string_view text) {
  const std::string_view body = trim(text);
  int64_t value = 0;
  if (parse(body, value)) return value;
  uint64_t positive = 0;
  if (parse(body, positive)) return static_cast<int64_t>(positive);
  NEREID_TRY(const double number, number_from_text(text));
  if (std::isnan(number)) return int64_t{0};
  if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (number < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

std::string number_text(float value) {
  return text_of(value);
}
std::string number_text(double value) {
  return text_of(value);
}

}  // namespace nereid::ops
