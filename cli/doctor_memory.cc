// SPDX-License-Identifier: Apache-2.0
// Memory: how much, how much of it this process may have, and huge pages.
#include "base/progress.h"
#include "cli/doctor_parse.h"
#include "cli/doctor_probes.h"

namespace nereid::cli {
namespace {

// The least of the limits of the process's group and of those above it.
std::optional<int64_t> group_limit(const DoctorSystem& system) {
  const std::string groups = system.read("/proc/self/cgroup").value_or("");
  std::optional<int64_t> least;
  const auto look = [&](const std::string& file) {
    const std::optional<std::string> text = system.read(file);
    const std::optional<int64_t> limit = text ? parse_memory_limit(*text) : std::nullopt;
    if (limit && (!least || *limit < *least)) least = limit;
  };
  const auto walk = [&](const std::string& mount, std::string path, const std::string& file) {
    while (!path.empty() && path != "/") {
      look(mount + path + "/" + file);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    look(mount + "/" + file);
  };
  if (const auto path = cgroup_path(groups, "")) walk("/sys/fs/cgroup", *path, "memory.max");
  if (const auto path = cgroup_path(groups, "memory")) walk("/sys/fs/cgroup/memory", *path, "memory.limit_in_bytes");
  return least;
}

Finding huge_page_finding(const std::string& mode) {
  Finding f{.section = "memory", .name = "huge pages", .value = mode};
  if (mode == "always" || mode == "madvise") {
    f.value += ": weights are put into pages of 2 MiB";
    return f;
  }
  f.health = Health::kNote;
  if (mode.empty()) {
    f.value = "this kernel has no transparent huge pages; reading weights is slower";
    return f;
  }
  f.value += ": reading weights is slower without";
  f.advice = "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";
  return f;
}

}  // namespace

void examine_memory(const DoctorSystem& system, const CpuState& cpu, Findings& findings) {
  const std::string meminfo = system.read("/proc/meminfo").value_or("");
  const auto total = meminfo_bytes(meminfo, "MemTotal"), free = meminfo_bytes(meminfo, "MemAvailable");
  if (total)
    findings.push_back({.section = "memory",
                        .name = "memory",
                        .value = fmt::format("{}, {} available", format_bytes(*total), format_bytes(free.value_or(0))),
                        .number = static_cast<double>(*total),
                        .unit = "bytes"});
  if (const std::optional<int64_t> limit = group_limit(system); limit && (!total || *limit < *total))
    findings.push_back({.section = "memory",
                        .name = "control group",
                        .value = fmt::format("allows {}", format_bytes(*limit)),
                        .number = static_cast<double>(*limit),
                        .unit = "bytes"});
  const std::optional<std::string> mode = system.read("/sys/kernel/mm/transparent_hugepage/enabled");
  findings.push_back(
      huge_page_finding(system.is_real() ? cpu.info.huge_pages : parse_huge_page_mode(mode.value_or(""))));
}

}  // namespace nereid::cli
