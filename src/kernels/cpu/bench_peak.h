// SPDX-License-Identifier: Apache-2.0
// For benchmarks only: the f32 peak of this machine's instruction sets, and counters in its terms.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels::testing {

// Gop/s of multiply-adds on registers, best of 20 runs of a millisecond or so; per number of threads.
inline double f32_peak_gops(Isa isa, int threads) {
  static std::map<std::pair<Isa, int>, double> known;
  double& best = known[{isa, threads}];
  if (best > 0) return best;
  ThreadPool pool({.threads = threads});
  std::vector<float> sink(static_cast<size_t>(16 * threads));
  const PeakParams p{.rounds = 200000, .sink = sink.data()};
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    pool.run([&](Worker& w) { isa_kernels(isa).peak(p, w); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 2e-9 * static_cast<double>(p.rounds * kPeakRound * threads) / seconds);
  }
  return best;
}

// Times `run` until the benchmark has enough of it; the best run tells the counters, since machines are shared.
template <typename Run>
void time_best(benchmark::State& state, double operations, double peak_gops, Run run) {
  double best = 1e30;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  state.counters["best_us"] = best * 1e6;
  state.counters["best_Gop"] = operations / best * 1e-9;
  if (peak_gops > 0) state.counters["share"] = operations / best * 1e-9 / peak_gops;
}

}  // namespace nereid::kernels::testing
