// SPDX-License-Identifier: Apache-2.0
// What one draw costs, by vocabulary and settings.
#include <benchmark/benchmark.h>

#include <random>

#include "llm/sample/sampler.h"

namespace nereid::sample {
namespace {

void run(benchmark::State& state, const SamplingParams& params) {
  std::mt19937_64 rng(1);
  std::normal_distribution<float> normal(0.0F, 3.0F);
  std::vector<float> logits(static_cast<size_t>(state.range(0)));
  for (float& v : logits) v = normal(rng);
  Sampler sampler = *Sampler::make(params);
  for (auto _ : state) benchmark::DoNotOptimize(sampler.sample(logits, {}));
}

void greedy(benchmark::State& state) {
  run(state, {});
}
void greedy_with_logprobs(benchmark::State& state) {
  SamplingParams p;
  p.logprobs = 5;
  run(state, p);
}
void temperature_only(benchmark::State& state) {
  SamplingParams p;
  p.temperature = 0.8F;
  run(state, p);
}
void top_p_only(benchmark::State& state) {
  SamplingParams p;
  p.temperature = 0.8F;
  p.top_p = 0.9F;
  run(state, p);
}
void usual_chain(benchmark::State& state) {
  SamplingParams p;
  p.temperature = 0.8F;
  p.top_k = 40;
  p.top_p = 0.95F;
  p.min_p = 0.05F;
  run(state, p);
}

void full_chain(benchmark::State& state) {
  SamplingParams p;
  p.temperature = 0.8F;
  p.top_k = 40;
  p.top_p = 0.95F;
  p.min_p = 0.05F;
  p.typical_p = 0.95F;
  p.top_n_sigma = 2;
  p.xtc_probability = 0.5F;
  p.dynatemp_range = 0.2F;
  run(state, p);
}
void mirostat_2(benchmark::State& state) {
  SamplingParams p;
  p.temperature = 0.8F;
  p.mirostat = 2;
  run(state, p);
}

BENCHMARK(full_chain)->Arg(49152);
BENCHMARK(mirostat_2)->Arg(49152);
BENCHMARK(greedy)->Arg(49152)->Arg(128256)->Arg(262144);
BENCHMARK(greedy_with_logprobs)->Arg(49152)->Arg(262144);
BENCHMARK(temperature_only)->Arg(49152)->Arg(262144);
BENCHMARK(top_p_only)->Arg(49152)->Arg(262144);
BENCHMARK(usual_chain)->Arg(49152)->Arg(128256)->Arg(262144);

}  // namespace
}  // namespace nereid::sample
