// SPDX-License-Identifier: Apache-2.0
#include "calibrate/calibration_table.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

namespace nereid::calibrate {
namespace {

constexpr std::string_view kFirst = "nereid calibration ", kVersion = "1 ", kForeign = "TRT-";

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<double> take_number(std::string_view& line) {
  const size_t end = line.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  float value = 0;
  const auto [stop, problem] = std::from_chars(line.data(), line.data() + end, value);
  if (problem != std::errc() || stop != line.data() + end || !std::isfinite(value)) return std::nullopt;
  line.remove_prefix(end + 1);
  return value;
}

Result<std::pair<std::string, QuantizedRange>> own_line(std::string_view line) {
  const auto least = take_number(line), most = least ? take_number(line) : std::nullopt;
  if (!most || *least > 0 || *most < 0) return invalid_argument("expected LEAST MOST NAME with LEAST <= 0 <= MOST");
  return std::pair(std::string(line), QuantizedRange{.least = *least, .most = *most});
}

Result<std::pair<std::string, QuantizedRange>> foreign_line(std::string_view line) {
  const size_t colon = line.rfind(": ");
  const std::string_view digits = colon == std::string_view::npos ? "" : line.substr(colon + 2);
  uint32_t bits = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  const float scale = std::bit_cast<float>(bits);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(scale) ||
      scale < 0)
    return invalid_argument("expected NAME: and a scale as 8 hexadecimal digits");
  const double most = 127.0 * static_cast<double>(scale);
  return std::pair(std::string(line.substr(0, colon)), QuantizedRange{.least = -most, .most = most});
}

}  // namespace

Result<CalibrationTable> parse_calibration_table(std::string_view text) {
  CalibrationTable table;
  std::string_view first = take_line(text);
  if (first.starts_with(kForeign)) {
    table.is_foreign = true;
    table.method = first;
  } else {
    if (!first.starts_with(kFirst))
      return invalid_argument(
          "this is no calibration cache: its first line is neither 'nereid calibration 1 METHOD' nor TensorRT's "
          "'TRT-...'");
    first.remove_prefix(kFirst.size());
    if (!first.starts_with(kVersion))
      return invalid_argument("the calibration cache has the version '{}', and this program reads version 1",
                              first.substr(0, first.find(' ')));
    table.method = first.substr(kVersion.size());
  }
  for (int64_t number = 2; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    auto read = table.is_foreign ? foreign_line(line) : own_line(line);
    if (!read.is_ok()) return read.status().with(fmt::format("line {}", number));
    if (!table.ranges.insert(std::move(read).value()).second)
      return invalid_argument("line {}: the tensor is named a second time", number);
  }
  return table;
}

std::string print_calibration_table(const CalibrationTable& table) {
  std::string text = fmt::format("{}{}{}\n", kFirst, kVersion, table.method);
  for (const auto& [name, range] : table.ranges)
    if (name.find('\n') == std::string::npos)  // no line holds it: calibrated anew each time
      text += fmt::format("{:.9g} {:.9g} {}\n", static_cast<float>(range.least), static_cast<float>(range.most), name);
  return text;
}

}  // namespace nereid::calibrate
