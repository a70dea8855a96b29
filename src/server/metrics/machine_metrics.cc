// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/machine_metrics.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "server/metrics/family_row.h"
#include "server/metrics/registry.h"

namespace nereid::server::metrics {
namespace {

struct Ticks {
  uint64_t busy = 0, all = 0;
};

// The first line of /proc/stat: user nice system idle iowait irq softirq steal (proc(5)).
Ticks read_ticks() {
  std::ifstream stat("/proc/stat");
  std::string line;
  std::getline(stat, line);
  std::istringstream words(line);
  std::string name;
  words >> name;
  Ticks out;
  uint64_t value = 0;
  for (int i = 0; i < 8 && words >> value; ++i) {
    out.all += value;
    if (i != 3 && i != 4) out.busy += value;
  }
  return out;
}

// Bytes of a line of /proc/meminfo; 0 where it has none.
double memory_bytes(std::string_view wanted) {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    if (!line.starts_with(wanted) || line.size() <= wanted.size() || line[wanted.size()] != ':') continue;
    return std::strtod(line.c_str() + wanted.size() + 1, nullptr) * 1024;
  }
  return 0;
}

constexpr FamilyRow kPinnedTotal = {"nv_pinned_memory_pool_total_bytes", "gauge",
                                    "Pinned memory pool total memory size, in bytes"};
constexpr FamilyRow kPinnedUsed = {"nv_pinned_memory_pool_used_bytes", "gauge",
                                   "Pinned memory pool used memory size, in bytes"};
constexpr FamilyRow kBusy = {"nv_cpu_utilization", "gauge", "CPU utilization rate [0.0 - 1.0]"};
constexpr FamilyRow kMemory = {"nv_cpu_memory_total_bytes", "gauge", "CPU total memory (RAM), in bytes"};
constexpr FamilyRow kMemoryUsed = {"nv_cpu_memory_used_bytes", "gauge", "CPU used memory (RAM), in bytes"};

void append(std::string* out, const FamilyRow& row, double value) {
  fmt::format_to(std::back_inserter(*out), "# HELP {} {}\n# TYPE {} {}\n{} {}\n", row.name, row.help, row.name,
                 row.kind, row.name, number_text(value));
}

}  // namespace

MachineMeter::MachineMeter() {
  sample();
}

void MachineMeter::sample() {
  const Ticks now = read_ticks();
  if (now.all > all_) utilization_ = static_cast<double>(now.busy - busy_) / static_cast<double>(now.all - all_);
  busy_ = now.busy, all_ = now.all;
}

std::string MachineMeter::text(bool has_cpu) const {
  std::string out = gpus_.text();
  // Nothing here copies to a device through a pool of pinned memory.
  append(&out, kPinnedTotal, 0);
  append(&out, kPinnedUsed, 0);
  if (!has_cpu) return out;
  const double total = memory_bytes("MemTotal");
  append(&out, kBusy, utilization_);
  append(&out, kMemory, total);
  append(&out, kMemoryUsed, total - memory_bytes("MemAvailable"));
  return out;
}

std::vector<FamilyRow> machine_families() {
  return {kPinnedTotal, kPinnedUsed, kBusy, kMemory, kMemoryUsed};
}

}  // namespace nereid::server::metrics
