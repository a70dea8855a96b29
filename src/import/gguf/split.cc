// SPDX-License-Identifier: Apache-2.0
#include "import/gguf/split.h"

#include <fmt/format.h>

#include <charconv>

namespace nereid::import::gguf {
namespace {

constexpr std::string_view kSuffix = ".gguf";
constexpr std::string_view kMiddle = "-of-";
constexpr size_t kDigits = 5;

std::optional<uint32_t> parse_digits(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string SplitName::path_of(uint32_t which) const {
  return fmt::format("{}-{:05}{}{:05}{}", prefix, which, kMiddle, count, kSuffix);
}

std::optional<SplitName> parse_split_name(std::string_view path) {
  constexpr size_t kTail = 1 + kDigits + kMiddle.size() + kDigits + kSuffix.size();
  if (path.size() < kTail || !path.ends_with(kSuffix)) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kTail);
  if (tail[0] != '-' || tail.substr(1 + kDigits, kMiddle.size()) != kMiddle) return std::nullopt;
  const auto part = parse_digits(tail.substr(1, kDigits));
  const auto count = parse_digits(tail.substr(1 + kDigits + kMiddle.size(), kDigits));
  if (!part || !count || *part < 1 || *part > *count) return std::nullopt;
  return SplitName{.prefix = std::string(path.substr(0, path.size() - kTail)), .part = *part, .count = *count};
}

}  // namespace nereid::import::gguf
