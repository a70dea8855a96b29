// SPDX-License-Identifier: Apache-2.0
// What planning a step costs, by how many run and how many wait.
#include <benchmark/benchmark.h>

#include "llm/schedule/scheduler.h"

namespace nereid::schedule {
namespace {

// Sequences that answer (one ends and one begins now and then), and a queue behind them.
void plan_and_done(benchmark::State& state) {
  const auto sequences = static_cast<int32_t>(state.range(0));
  const int64_t waiting = state.range(1);
  auto scheduler = *Scheduler::make({.step_tokens = 512, .max_queue = 1 << 20},
                                    {.pages = sequences * 64, .page_tokens = 16, .sequences = sequences});
  uint64_t id = 0;
  int64_t now_us = 0;
  const auto add = [&] {
    NewRequest r{.id = {++id}, .max_tokens = 200, .user = "user " + std::to_string(id % 10)};
    for (int32_t i = 0; i < 300; ++i) r.prompt.push_back(i < 100 ? i : static_cast<int32_t>(id));
    benchmark::DoNotOptimize(scheduler->add(std::move(r), now_us).is_ok());
  };
  for (int64_t i = 0; i < sequences + waiting; ++i) add();
  std::vector<Outcome> outcomes;
  const int32_t token = 7;
  int64_t tokens = 0, steps = 0;
  for (auto _ : state) {
    const Step& step = scheduler->plan(now_us += 10'000);
    outcomes.assign(static_cast<size_t>(step.outputs), Outcome{.tokens = {&token, 1}, .is_last = false, .drafts = {}});
    tokens += step.tokens;
    ++steps;
    scheduler->done(now_us, outcomes);
    const SchedulerCounts n = scheduler->counts();
    for (int64_t i = n.waiting + n.running; i < sequences + waiting; ++i) add();
  }
  state.counters["tokens_a_step"] = static_cast<double>(tokens) / static_cast<double>(steps);
}

BENCHMARK(plan_and_done)->Args({8, 0})->Args({64, 0})->Args({64, 1000})->Args({256, 1000});

}  // namespace
}  // namespace nereid::schedule
