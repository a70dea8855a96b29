// SPDX-License-Identifier: Apache-2.0
// What the executor costs beside the model's own steps: answers of `batch` requests at once, through the executor and
// as raw steps over the same positions. NEREID_BENCH_MODEL names the model's file; NEREID_BENCH_THREADS its threads.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <latch>

#include "base/clock.h"
#include "llm/run/executor.h"
#include "llm/run/open_model.h"

namespace nereid::llm {
namespace {

constexpr int32_t kPrompt = 16, kAnswer = 112;

// Opened once for all cases; nothing where the environment names no model.
OpenedModel* opened() {
  static std::optional<OpenedModel> model = []() -> std::optional<OpenedModel> {
    const char* path = std::getenv("NEREID_BENCH_MODEL");
    const char* threads = std::getenv("NEREID_BENCH_THREADS");
    if (!path) return std::nullopt;
    Result<OpenedModel> m = open_model(path, {.threads = threads ? std::atoi(threads) : 0}, load_options({}));
    if (!m.is_ok()) fmt::print(stderr, "{}\n", m.status().message());
    return m.is_ok() ? std::optional(std::move(m).value()) : std::nullopt;
  }();
  return model ? &*model : nullptr;
}

std::vector<int32_t> prompt_of(int64_t i, int64_t vocab) {
  std::vector<int32_t> prompt;
  for (int64_t t = 0; t < kPrompt; ++t) prompt.push_back(static_cast<int32_t>((97 * i + 13 * t + 20) % vocab));
  return prompt;
}

void raw_steps(benchmark::State& state) {
  OpenedModel* m = opened();
  if (!m) return state.SkipWithError("NEREID_BENCH_MODEL names no model");
  LanguageModel& model = *m->model;
  const int64_t batch = state.range(0);
  const int64_t each = (kPrompt + kAnswer + model.page_tokens() - 1) / model.page_tokens();
  std::vector<int32_t> pages(static_cast<size_t>(each));
  for (int64_t s = 0; s < batch; ++s) {
    for (int64_t p = 0; p < each; ++p) pages[static_cast<size_t>(p)] = static_cast<int32_t>(s * each + p);
    (void)model.set_pages(static_cast<int32_t>(s), 0, pages);
  }
  std::vector<int32_t> tokens(static_cast<size_t>(batch), 100), positions(tokens), sequences(tokens), rows(tokens);
  for (int32_t s = 0; s < batch; ++s) sequences[static_cast<size_t>(s)] = rows[static_cast<size_t>(s)] = s;
  double best_ns = 1e18;
  for (auto _ : state) {
    const int64_t start = now_ns();
    for (int32_t p = kPrompt; p < kPrompt + kAnswer - 1; ++p) {
      std::fill(positions.begin(), positions.end(), p);
      (void)model.step({tokens, positions, sequences, rows});
      benchmark::DoNotOptimize(model.logits(0)[0]);
    }
    best_ns = std::min(best_ns, static_cast<double>(now_ns() - start));
  }
  state.counters["best_us_a_step"] = best_ns / 1e3 / (kAnswer - 1);
  state.counters["best_tokens_per_s"] = static_cast<double>(batch) * (kAnswer - 1) * 1e9 / best_ns;
}

// From the last first token to the last last token: then all requests are decoding.
void executor_steps(benchmark::State& state) {
  OpenedModel* m = opened();
  if (!m) return state.SkipWithError("NEREID_BENCH_MODEL names no model");
  const int64_t batch = state.range(0);
  Result<std::unique_ptr<Executor>> executor = Executor::start(*m->model, {});
  double best_ns = 1e18;
  for (auto _ : state) {
    std::latch ended(batch);
    int64_t first_ns = 0, last_ns = 0, firsts = 0;
    std::vector<bool> has_first(static_cast<size_t>(batch));
    for (int64_t i = 0; i < batch; ++i) {
      Request request{.prompt = prompt_of(i, m->model->vocab()), .params = {.max_tokens = kAnswer, .ignore_eos = 1}};
      (void)(*executor)->enqueue(std::move(request), [&, i](Output&& output) {
        if (!has_first[static_cast<size_t>(i)]) {
          has_first[static_cast<size_t>(i)] = true;
          if (++firsts == batch) first_ns = now_ns();
        }
        if (!output.is_last) return;
        if (last_ns == 0) last_ns = now_ns();  // the first that ends: until here all were running
        ended.count_down();
      });
    }
    ended.wait();
    best_ns = std::min(best_ns, static_cast<double>(last_ns - first_ns));
  }
  state.counters["best_us_a_step"] = best_ns / 1e3 / (kAnswer - 1);
  state.counters["best_tokens_per_s"] = static_cast<double>(batch) * (kAnswer - 1) * 1e9 / best_ns;
}

BENCHMARK(raw_steps)->Arg(1)->Arg(8)->Arg(32)->Iterations(5)->UseRealTime();
BENCHMARK(executor_steps)->Arg(1)->Arg(8)->Arg(32)->Iterations(5)->UseRealTime();

}  // namespace
}  // namespace nereid::llm
