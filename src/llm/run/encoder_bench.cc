// SPDX-License-Identifier: Apache-2.0
// Tokens a second of an encoder over texts of 16, 64 and 128 tokens, 32 texts a job through the queue.
// NEREID_BENCH_MODEL names the model's folder; NEREID_BENCH_THREADS its threads; NEREID_BENCH_PROFILE prints what each
// step took.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <map>

#include "base/clock.h"
#include "llm/run/encode_queue.h"
#include "llm/run/open_encoder.h"

namespace nereid::llm {
namespace {

OpenedEncoder* opened() {
  static std::optional<OpenedEncoder> model = []() -> std::optional<OpenedEncoder> {
    const char* path = std::getenv("NEREID_BENCH_MODEL");
    const char* threads = std::getenv("NEREID_BENCH_THREADS");
    if (!path) return std::nullopt;
    Result<OpenedEncoder> m = open_encoder(path, {.threads = threads ? std::atoi(threads) : 0});
    if (!m.is_ok()) fmt::print(stderr, "{}\n", m.status().message());
    return m.is_ok() ? std::optional(std::move(m).value()) : std::nullopt;
  }();
  return model ? &*model : nullptr;
}

// By the first word of a step's label, where a layer's number is left out.
void print_profile(const runtime::Context& context) {
  std::map<std::string, int64_t> sums;
  for (const auto& [label, ns] : context.profile()) {
    std::string kind = label;
    kind.erase(std::remove_if(kind.begin(), kind.end(), [](char c) { return c >= '0' && c <= '9'; }), kind.end());
    sums[kind] += ns;
  }
  for (const auto& [kind, ns] : sums) fmt::print(stderr, "{:50} {:10.3f} ms\n", kind, static_cast<double>(ns) / 1e6);
}

void encode(benchmark::State& state) {
  OpenedEncoder* m = opened();
  if (!m) return state.SkipWithError("NEREID_BENCH_MODEL names no encoder");
  const int64_t size = state.range(0), batch = state.range(1);
  const bool profiles = std::getenv("NEREID_BENCH_PROFILE") != nullptr;
  m->encoder->context().set_profiling(profiles);
  const auto queue = EncodeQueue::start(*m->encoder);
  double best_ns = 1e18;
  for (auto _ : state) {
    std::vector<EncodeInput> inputs;
    for (int64_t i = 0; i < batch; ++i) {
      EncodeInput input;
      for (int64_t t = 0; t < size; ++t)
        input.tokens.push_back(static_cast<int32_t>((97 * i + 13 * t + 20) % m->encoder->vocab()));
      inputs.push_back(std::move(input));
    }
    std::promise<EncodeOutput> promise;
    const int64_t start = now_ns();
    (void)queue->submit(std::move(inputs), [&](EncodeOutput&& output) { promise.set_value(std::move(output)); });
    (void)promise.get_future().get();
    best_ns = std::min(best_ns, static_cast<double>(now_ns() - start));
  }
  state.counters["best_ms"] = best_ns / 1e6;
  state.counters["best_tokens_per_s"] = static_cast<double>(batch * size) * 1e9 / best_ns;
  if (profiles) print_profile(m->encoder->context());
}

BENCHMARK(encode)
    ->Args({16, 1})
    ->Args({128, 1})
    ->Args({16, 32})
    ->Args({64, 32})
    ->Args({128, 32})
    ->Iterations(7)
    ->UseRealTime();

}  // namespace
}  // namespace nereid::llm
