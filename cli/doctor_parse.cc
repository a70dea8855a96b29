// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace nereid::cli {
namespace {

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// The first version after `words`.
std::string version_after(std::string_view text, std::string_view words) {
  const size_t at = text.find(words);
  return at == std::string_view::npos ? "" : first_version(text.substr(at + words.size()));
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string first_version(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i]) || (i > 0 && is_digit(text[i - 1]))) continue;
    size_t end = i;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    while (end > i && text[end - 1] == '.') --end;
    const std::string_view version = text.substr(i, end - i);
    if (version.find('.') != std::string_view::npos) return std::string(version);
    i = end;
  }
  return "";
}

std::string parse_nvidia_module_version(std::string_view text) {
  return version_after(text, "Kernel Module");
}

std::string parse_nvcc_version(std::string_view text) {
  return version_after(text, ", V");
}

std::string cuda_version_text(int version) {
  return version <= 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string nccl_version_text(int version) {
  if (version <= 0) return "";
  const int major = version < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

std::string parse_unit_state(std::string_view text) {
  for (const std::string_view line : lines_of(text))
    for (const std::string_view state : {"active", "inactive", "failed", "activating", "deactivating", "unknown"})
      if (line == state) return std::string(state);
  return "";
}

std::optional<int64_t> meminfo_bytes(std::string_view text, std::string_view name) {
  for (const std::string_view line : lines_of(text)) {
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    const size_t at = line.find_first_of("0123456789");
    int64_t kib = 0;
    if (at == std::string_view::npos ||
        std::from_chars(line.data() + at, line.data() + line.size(), kib).ec != std::errc() || kib > (INT64_MAX >> 10))
      return std::nullopt;
    return kib * 1024;
  }
  return std::nullopt;
}

std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller) {
  for (const std::string_view line : lines_of(text)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first == std::string_view::npos ? first : first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty() && controller.empty()) return path;
    while (!controllers.empty() && !controller.empty()) {
      const size_t comma = std::min(controllers.find(','), controllers.size());
      if (controllers.substr(0, comma) == controller) return path;
      controllers.remove_prefix(std::min(comma + 1, controllers.size()));
    }
  }
  return std::nullopt;
}

std::optional<int64_t> parse_memory_limit(std::string_view text) {
  constexpr int64_t kNoLimit = int64_t{1} << 60;  // v1 writes the largest number of whole pages
  int64_t bytes = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), bytes).ec != std::errc()) return std::nullopt;
  if (bytes <= 0 || bytes >= kNoLimit) return std::nullopt;
  return bytes;
}

}  // namespace nereid::cli
