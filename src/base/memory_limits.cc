// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limits.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/cgroup_line.h"
#include "base/file.h"

namespace nereid {
namespace {

constexpr size_t kMaxText = 1 << 20;

std::optional<int64_t> number_at_start(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;  // "max" too
  return value;
}

std::optional<int64_t> read_number(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxText);
  return text.is_ok() ? number_at_start(*text) : std::nullopt;
}

// The files of a kind of groups.
struct GroupFiles {
  const char *limit, *use;
};
constexpr GroupFiles kV1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes"};
constexpr GroupFiles kV2 = {"/memory.max", "/memory.current"};

// From mount/group up to mount.
int64_t least_left(const std::string& mount, std::string_view group, const GroupFiles& files) {
  group = visible_group(group);
  int64_t least = -1;
  while (true) {
    while (group.ends_with('/')) group.remove_suffix(1);
    const auto limit = read_number(fmt::format("{}{}{}", mount, group, files.limit));
    const auto use = read_number(fmt::format("{}{}{}", mount, group, files.use));
    if (limit && use && *limit >= 0) {
      const int64_t left = std::max<int64_t>(*limit - *use, 0);
      if (least < 0 || left < least) least = left;
    }
    if (group.empty()) return least;
    group = group.substr(0, group.rfind('/'));
  }
}

}  // namespace

int64_t meminfo_available(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  const size_t at = meminfo.find(kName);
  if (at == std::string_view::npos) return 0;
  return number_at_start(meminfo.substr(at + kName.size())).value_or(0) * 1024;
}

int64_t cgroup_memory_left(std::string_view self_cgroup, const std::string& root) {
  int64_t least = -1;
  while (const std::optional<CgroupLine> line = next_cgroup_line(&self_cgroup)) {
    const bool is_v2 = line->controllers.empty();
    if (!is_v2 && !has_controller(line->controllers, "memory")) continue;
    const int64_t left = least_left(is_v2 ? root : root + "/memory", line->group, is_v2 ? kV2 : kV1);
    if (left >= 0 && (least < 0 || left < least)) least = left;
  }
  return least;
}

int64_t available_memory_bytes() {
  const Result<std::string> meminfo = read_file("/proc/meminfo", kMaxText);
  const Result<std::string> self = read_file("/proc/self/cgroup", kMaxText);
  const int64_t free = meminfo.is_ok() ? meminfo_available(*meminfo) : 0;
  const int64_t left = self.is_ok() ? cgroup_memory_left(*self, "/sys/fs/cgroup") : -1;
  return left < 0 ? free : std::min(free, left);
}

}  // namespace nereid
