// SPDX-License-Identifier: Apache-2.0
// What a fork-join and a barrier cost, with a CPU for each thread and with too few.
#include <benchmark/benchmark.h>

#include "base/thread_pool.h"

namespace nereid {
namespace {

void fork_join(benchmark::State& state) {
  ThreadPool pool({.threads = static_cast<int>(state.range(0))});
  for (auto _ : state) pool.run([](Worker& w) { benchmark::DoNotOptimize(w); });
}
BENCHMARK(fork_join)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Arg(64)->UseRealTime();

void barrier(benchmark::State& state) {
  ThreadPool pool({.threads = static_cast<int>(state.range(0))});
  constexpr int kBarriers = 1000;
  for (auto _ : state)
    pool.run([](Worker& w) {
      for (int i = 0; i < kBarriers; ++i) w.barrier();
    });
  state.SetItemsProcessed(state.iterations() * kBarriers);
}
BENCHMARK(barrier)->Arg(1)->Arg(2)->Arg(4)->Arg(8)->Arg(16)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace nereid
