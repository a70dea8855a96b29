// SPDX-License-Identifier: Apache-2.0
// attention by instruction set, context and tokens: GB/s of keys and values read, Gop/s of products.
// One token is bound by memory (or latency, while the cache fits the processor's), prompts by the FMA pipes.
#include <benchmark/benchmark.h>

#include <numeric>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

// `tokens` new tokens behind a context of `context`, SmolLM2-135M's heads.
void attention(benchmark::State& state, Isa isa, DType cache, int64_t context, int64_t tokens, int threads) {
  constexpr int kHeads = 9, kKvHeads = 3, kHeadDim = 64, kPageTokens = 32;
  const int64_t pages = (context + tokens + kPageTokens - 1) / kPageTokens;
  const int64_t row_bytes = *dtype_bytes(cache, kHeadDim) + (cache == DType::i8 ? 4 : 0);
  std::vector<std::byte> k_cache(static_cast<size_t>(pages * kPageTokens * kKvHeads * row_bytes), std::byte{0x30});
  std::vector<std::byte> v_cache = k_cache;
  std::vector<int32_t> table(static_cast<size_t>(pages)), positions(static_cast<size_t>(tokens));
  std::iota(table.begin(), table.end(), 0);
  std::iota(positions.begin(), positions.end(), static_cast<int32_t>(context));
  const std::vector<int32_t> sequence(static_cast<size_t>(tokens), 0);
  std::vector<float> q = testing::random_floats(static_cast<size_t>(tokens * kHeads * kHeadDim), 1);
  const std::vector<float> k = testing::random_floats(static_cast<size_t>(tokens * kKvHeads * kHeadDim), 2);
  std::vector<float> y(q.size());
  AttentionParams p;
  p.q = q.data();
  p.k = p.v = k.data();
  p.q_stride = p.y_stride = kHeads * kHeadDim;
  p.k_stride = p.v_stride = kKvHeads * kHeadDim;
  p.tokens = tokens;
  p.heads = kHeads;
  p.kv_heads = kKvHeads;
  p.head_dim = kHeadDim;
  p.scale = 0.125f;
  p.positions = positions.data();
  p.sequence = sequence.data();
  p.page_table = table.data();
  p.pages_per_sequence = pages;
  p.page_tokens = kPageTokens;
  p.cache = cache;
  p.k_cache = k_cache.data();
  p.v_cache = v_cache.data();
  p.y = y.data();
  ThreadPool pool({.threads = threads});
  const IsaKernels& kernels = isa_kernels(isa);
  for (auto _ : state) pool.run([&](Worker& worker) { kernels.attention(p, worker); });

  using benchmark::Counter;
  const double runs = static_cast<double>(state.iterations());
  // Token t sees context + t + 1 positions: two products of head_dim for each of its heads.
  const double seen =
      static_cast<double>(tokens) * (static_cast<double>(context) + (static_cast<double>(tokens) + 1) / 2);
  state.counters["GB"] =
      Counter(runs * static_cast<double>((context + tokens) * 2 * kKvHeads * row_bytes) / 1e9, Counter::kIsRate);
  state.counters["Gop"] = Counter(4 * runs * seen * kHeads * kHeadDim / 1e9, Counter::kIsRate);
}

[[maybe_unused]] const int kRegistered = [] {
  for (Isa isa : testing::isas_here())
    for (auto [context, tokens] : {std::pair<int64_t, int64_t>{128, 1}, {2048, 1}, {8191, 1}, {0, 512}, {2048, 512}})
      for (DType cache : {DType::f16, DType::i8, DType::f32, DType::f8e4m3})
        for (int threads : {1, 2}) {
          const std::string name = fmt::format("attention/{}/{}/context:{}/tokens:{}/threads:{}", isa_name(isa),
                                               dtype_name(cache), context, tokens, threads);
          benchmark::RegisterBenchmark(name.c_str(), attention, isa, cache, context, tokens, threads)->UseRealTime();
        }
  return 0;
}();

}  // namespace
}  // namespace nereid::kernels
