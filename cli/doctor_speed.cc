// SPDX-License-Identifier: Apache-2.0
// What has to be measured: how fast memory is read, and what waking the threads costs.
#include <algorithm>

#include "base/clock.h"
#include "base/console.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "cli/doctor_parse.h"
#include "cli/doctor_probes.h"
#include "runtime/bandwidth.h"

namespace nereid::cli {
namespace {

constexpr int kRepeats = 3;
constexpr double kMaxSeconds = 2;  // of one measurement, on a machine that is busy
constexpr double kSlowForkJoinUs = 20;

// More than the caches hold where memory is there for it: a quarter of what is free, and at most 512 MiB.
int64_t buffer_bytes(const DoctorSystem& system, const CpuInfo& info) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  const int64_t free = meminfo_bytes(system.read("/proc/meminfo").value_or(""), "MemAvailable").value_or(256 * kMiB);
  return std::clamp(std::min(4 * info.l3_bytes, free / 4), 64 * kMiB, 512 * kMiB);
}

Finding bandwidth_finding(int threads, int64_t bytes, Isa isa) {
  Finding f{.section = "speed", .name = fmt::format("memory, {} thread{}", threads, threads == 1 ? "" : "s")};
  ThreadPool pool({.threads = threads});
  const auto measured = runtime::measure_read_bandwidth(
      pool, {.bytes = bytes, .repeats = kRepeats, .isa = isa, .max_seconds = kMaxSeconds});
  if (!measured.is_ok()) {
    f.value = "not measured: " + measured.status().message();
    f.health = Health::kNote;
    return f;
  }
  f.value = fmt::format("{:.1f} GB/s read (over {}, best of several)", measured->best / 1e9, format_bytes(bytes));
  f.number = measured->best / 1e9;
  f.unit = "GB/s";
  return f;
}

// The median cost of a run of nothing.
Finding fork_join_finding(int threads) {
  ThreadPool pool({.threads = threads});
  constexpr int kBatches = 21, kRuns = 50;
  std::vector<double> us;
  for (int b = 0; b < kBatches; ++b) {
    const int64_t start = now_ns();
    for (int i = 0; i < kRuns; ++i) pool.run([](Worker&) {});
    us.push_back(static_cast<double>(now_ns() - start) / 1e3 / kRuns);
  }
  std::nth_element(us.begin(), us.begin() + kBatches / 2, us.end());
  Finding f{
      .section = "speed",
      .name = "fork and join",
      .value = fmt::format("{:.2f} us for {} thread{}", us[kBatches / 2], pool.size(), pool.size() == 1 ? "" : "s"),
      .number = us[kBatches / 2],
      .unit = "us"};
  if (us[kBatches / 2] > kSlowForkJoinUs) {
    f.health = Health::kNote;
    f.advice = "other programs use these CPUs, or there are fewer than threads; try fewer with --threads";
  }
  return f;
}

}  // namespace

void examine_speed(const DoctorSystem& system, const CpuState& cpu, Findings& findings) {
  if (!system.is_real()) return;
  const int64_t bytes = buffer_bytes(system, cpu.info);
  stderr_console().status("measuring the memory's speed");
  findings.push_back(bandwidth_finding(1, bytes, cpu.isa));
  if (cpu.info.usable_cpus > 1) findings.push_back(bandwidth_finding(cpu.info.usable_cpus, bytes, cpu.isa));
  findings.push_back(fork_join_finding(cpu.info.usable_cpus));
  stderr_console().status("");
}

}  // namespace nereid::cli
