// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_limits.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/cgroup_line.h"
#include "base/file.h"

namespace nereid {
namespace {

constexpr size_t kMaxText = 1 << 20;

// The number at the start of `text`; it is moved past it and the blanks that follow.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return value;
}

std::optional<int64_t> read_number(const std::string& path) {
  const Result<std::string> text = read_file(path, kMaxText);
  if (!text.is_ok()) return std::nullopt;
  std::string_view view = *text;
  return take_number(view);
}

double quota_of(std::optional<int64_t> quota, std::optional<int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return 0;  // v1 writes -1 for no limit
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

double folder_quota_v1(const std::string& folder) {
  return quota_of(read_number(folder + "/cpu.cfs_quota_us"), read_number(folder + "/cpu.cfs_period_us"));
}

// cpu.max: "150000 100000", or "max 100000".
double folder_quota_v2(const std::string& folder) {
  const Result<std::string> text = read_file(folder + "/cpu.max", kMaxText);
  if (!text.is_ok()) return 0;
  std::string_view view = *text;
  const auto quota = take_number(view);
  return quota_of(quota, quota ? take_number(view) : std::nullopt);
}

// The smallest limit from mount/group up to mount.
template <typename F>
double smallest(const std::string& mount, std::string_view group, F folder_quota) {
  group = visible_group(group);
  double least = 0;
  while (true) {
    while (group.ends_with('/')) group.remove_suffix(1);
    const double q = folder_quota(mount + std::string(group));
    if (q > 0 && (least == 0 || q < least)) least = q;
    if (group.empty()) return least;
    group = group.substr(0, group.rfind('/'));
  }
}

}  // namespace

std::vector<int> affinity_cpus() {
  std::vector<int> cpus;
  // A machine may have more CPUs than cpu_set_t: the kernel says EINVAL until the mask is long enough.
  for (size_t bits = 1024; bits <= (size_t{1} << 20); bits *= 2) {
    cpu_set_t* mask = CPU_ALLOC(bits);
    const size_t bytes = CPU_ALLOC_SIZE(bits);
    CPU_ZERO_S(bytes, mask);
    const bool done = mask && sched_getaffinity(0, bytes, mask) == 0;
    for (size_t i = 0; done && i < bits; ++i)
      if (CPU_ISSET_S(i, bytes, mask)) cpus.push_back(static_cast<int>(i));
    CPU_FREE(mask);
    if (done) break;
  }
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

double cgroup_cpu_quota(std::string_view self_cgroup, const std::string& root) {
  double least = 0;
  const auto take = [&least](double q) {
    if (q > 0 && (least == 0 || q < least)) least = q;
  };
  while (const std::optional<CgroupLine> line = next_cgroup_line(&self_cgroup)) {
    if (line->controllers.empty()) {
      take(smallest(root, line->group, folder_quota_v2));
      take(smallest(root + "/unified", line->group, folder_quota_v2));
    } else if (has_controller(line->controllers, "cpu")) {
      take(smallest(root + "/" + std::string(line->controllers), line->group, folder_quota_v1));
      take(smallest(root + "/cpu", line->group, folder_quota_v1));
    }
  }
  return least;
}

int usable_cpus() {
  const auto mask = static_cast<int>(affinity_cpus().size());
  const Result<std::string> self = read_file("/proc/self/cgroup", kMaxText);
  const double quota = self.is_ok() ? cgroup_cpu_quota(*self, "/sys/fs/cgroup") : 0;
  if (quota <= 0 || quota >= mask) return mask;
  return std::max(1, static_cast<int>(std::ceil(quota)));
}

}  // namespace nereid
