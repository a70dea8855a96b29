// SPDX-License-Identifier: Apache-2.0
// linear by instruction set, weight format, tokens and threads: GB/s of packed weights read, Gop/s of products.
// Decode (one token) is to run at the memory's speed, prefill at that of the integer or FMA pipes.
#include <benchmark/benchmark.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

void linear(benchmark::State& state, Isa isa, DType dtype, int64_t rows, int64_t cols, int64_t tokens, int threads) {
  const testing::Weights w = testing::make_weights(dtype, rows, cols, 1);
  // Enough copies that the last-level cache holds none of them when its turn comes again.
  const auto bytes = static_cast<size_t>(w.weight.layout.bytes());
  const size_t copies = tokens > 4 ? 1 : std::max<size_t>(1, (size_t{256} << 20) / bytes);
  Buffer matrices = Buffer::allocate(copies * bytes, PageSize::kHuge).value();
  for (size_t i = 0; i < copies; ++i) std::copy_n(w.weight.data, bytes, matrices.data() + i * bytes);
  const std::vector<float> x = testing::random_floats(static_cast<size_t>(tokens * cols), 2);
  std::vector<float> y(static_cast<size_t>(tokens * rows));
  Buffer scratch = Buffer::allocate(static_cast<size_t>(linear_scratch_bytes(tokens, cols, threads))).value();
  ThreadPool pool({.threads = threads});
  LinearParams p{.x = x.data(),
                 .x_stride = cols,
                 .tokens = tokens,
                 .weight = w.weight,
                 .y = y.data(),
                 .y_stride = rows,
                 .scratch = scratch.data()};
  const IsaKernels& kernels = isa_kernels(isa);
  size_t next = 0;
  for (auto _ : state) {
    p.weight.data = matrices.data() + next * bytes;
    next = (next + 1) % copies;
    pool.run([&](Worker& worker) { kernels.linear(p, worker); });
  }
  using benchmark::Counter;
  const double runs = static_cast<double>(state.iterations());
  state.counters["GB"] = Counter(runs * static_cast<double>(bytes) / 1e9, Counter::kIsRate);
  state.counters["Gop"] = Counter(2 * runs * static_cast<double>(tokens * rows * cols) / 1e9, Counter::kIsRate);
}

// As benchmark names them: linear/avx512/q4_1/1536x576/tokens:1/threads:2.
[[maybe_unused]] const int kRegistered = [] {
  for (Isa isa : testing::isas_here())
    for (DType dtype : {DType::q4_1, DType::q8_0, DType::q4_k, DType::q6_k, DType::f16, DType::f32})
      for (int64_t tokens : {1, 8, 512})
        for (int threads : {1, 2}) {
          const int64_t rows = 1536, cols = dtype == DType::q4_k || dtype == DType::q6_k ? 768 : 576;
          const std::string name = fmt::format("linear/{}/{}/{}x{}/tokens:{}/threads:{}", isa_name(isa),
                                               dtype_name(dtype), rows, cols, tokens, threads);
          benchmark::RegisterBenchmark(name.c_str(), linear, isa, dtype, rows, cols, tokens, threads)->UseRealTime();
        }
  return 0;
}();

}  // namespace
}  // namespace nereid::kernels
