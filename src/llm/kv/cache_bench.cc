// SPDX-License-Identifier: Apache-2.0
// What the accounts of a sequence cost.
#include <benchmark/benchmark.h>

#include <numeric>

#include "llm/kv/cache.h"

namespace nereid::kv {
namespace {

// A prompt whose beginning is known, among many others that begin so, too.
void open_known(benchmark::State& state) {
  auto cache = *Cache::make({.pages = 1 << 16, .page_tokens = 16, .sequences = 4});
  std::vector<int32_t> prompt(static_cast<size_t>(state.range(0)));
  std::iota(prompt.begin(), prompt.end(), 0);
  for (int32_t other = 0; other < 1000; ++other) {
    prompt.back() = other;
    const Opened o = *cache->open({.tokens = prompt});
    benchmark::DoNotOptimize(
        cache->append(o.sequence, std::span(prompt).subspan(static_cast<size_t>(o.reused_tokens))).is_ok());
    cache->commit(o.sequence);
    cache->close(o.sequence);
  }
  prompt.back() = -1;
  for (auto _ : state) {
    cache->close(cache->open({.tokens = prompt})->sequence);
    cache->clear_moves();
  }
}
BENCHMARK(open_known)->Arg(100)->Arg(1000)->Arg(8000);

void append_one_token(benchmark::State& state) {
  auto cache = *Cache::make({.pages = 1 << 12, .page_tokens = 16, .sequences = 1});
  const SequenceId s = cache->open({})->sequence;
  const int32_t token = 1;
  for (auto _ : state) {
    if (cache->length(s) == 60000) benchmark::DoNotOptimize(cache->truncate(s, 0).is_ok());
    benchmark::DoNotOptimize(cache->append(s, {&token, 1}).is_ok());
    cache->commit(s);
  }
}
BENCHMARK(append_one_token);

}  // namespace
}  // namespace nereid::kv
