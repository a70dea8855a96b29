// SPDX-License-Identifier: Apache-2.0
#include "compile/machine_roof.h"

#include <algorithm>

#include "base/clock.h"
#include "kernels/cpu/isa_kernels.h"
#include "runtime/bandwidth.h"

namespace nereid::compile {
namespace {

constexpr int kPeakRepeats = 20;
constexpr int64_t kPeakRounds = 100'000;  // about a millisecond
constexpr double kSecondsABuffer = 0.12;  // at most, of one size of buffer
constexpr int64_t kInCache = 256 << 10;   // bytes a thread: the second cache of every processor of ten years
constexpr int64_t kShared = 4 << 20;      // the caches that cores share begin
constexpr int64_t kLastCache = 24 << 20;  // and end, on most machines
constexpr int64_t kInMemory = 128 << 20;  // more than caches hold

double peak_flops(ThreadPool& pool, Isa isa) {
  const auto threads = static_cast<int64_t>(pool.size());
  std::vector<float> sink(static_cast<size_t>(16 * threads));
  const kernels::PeakParams params{.rounds = kPeakRounds, .sink = sink.data()};
  int64_t best_ns = INT64_MAX;
  for (int i = 0; i < kPeakRepeats; ++i) {
    const int64_t start = now_ns();
    pool.run([&](Worker& w) { kernels::isa_kernels(isa).peak(params, w); });
    best_ns = std::min(best_ns, now_ns() - start);
  }
  const double flops = 2.0 * static_cast<double>(kPeakRounds * kernels::kPeakRound * threads);
  return best_ns > 0 ? flops / (static_cast<double>(best_ns) * 1e-9) : 0;
}

}  // namespace

double MachineRoof::compute_ms(const ops::Cost& cost) const {
  return flops_per_second > 0 ? cost.flops / flops_per_second * 1e3 : 0;
}

double MachineRoof::memory_ms(const ops::Cost& cost) const {
  const double bytes = cost.bytes_read + cost.bytes_written;
  for (const Reach& reach : memory)
    if (reach.bytes_per_second > 0 && (bytes <= static_cast<double>(reach.bytes) || &reach == &memory.back()))
      return bytes / reach.bytes_per_second * 1e3;
  return 0;
}

double MachineRoof::least_ms(const ops::Cost& cost) const {
  return std::max(compute_ms(cost), memory_ms(cost));
}

MachineRoof measure_roof(ThreadPool& pool, Isa isa) {
  MachineRoof roof{.flops_per_second = peak_flops(pool, isa), .memory = {}};
  const auto threads = static_cast<int64_t>(pool.size());
  for (const int64_t bytes : {kInCache * threads, std::max(kShared, 2 * kInCache * threads),
                              std::max(kLastCache, 4 * kInCache * threads), kInMemory}) {
    const auto measured = runtime::measure_read_bandwidth(
        pool, {.bytes = bytes, .repeats = 3, .isa = isa, .max_seconds = kSecondsABuffer});
    if (measured.is_ok()) roof.memory.push_back({bytes, measured->best});
  }
  return roof;
}

}  // namespace nereid::compile
