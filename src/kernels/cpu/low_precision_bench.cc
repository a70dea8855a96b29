// SPDX-License-Identifier: Apache-2.0
// bf16 and int8 products by instruction set, shape and threads: Gop/s and how many times the f32 peak that is, best
// run.
#include "kernels/cpu/bench_peak.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels {
namespace {

void low_gemm(benchmark::State& state, Isa isa, LowType type, int64_t m, int64_t n, int64_t k, int threads) {
  const auto bytes = [](int64_t count) { return Buffer::allocate(static_cast<size_t>(count)).value(); };
  Buffer a = bytes(m * k * low_bytes(type)), b = bytes(low_packed_bytes(type, k, n)),
         c = bytes(m * n * low_bytes(type));
  const std::vector<float> bias = testing::random_floats(static_cast<size_t>(n), 2);
  LowGemmParams p{.a = a.data(),
                  .a_type = type,
                  .a_stride = k,
                  .b = b.data(),
                  .m = m,
                  .n = n,
                  .k = k,
                  .c = c.data(),
                  .c_stride = n,
                  .epilogue = {.scale = bias.data(), .bias = bias.data(), .act = Act::kRelu, .y_type = type}};
  Buffer scratch = bytes(low_gemm_scratch_bytes(p, threads));
  p.scratch = scratch.data();
  ThreadPool pool({.threads = threads});
  const IsaKernels& kernels = isa_kernels(isa);
  testing::time_best(state, 2.0 * static_cast<double>(m * n * k), testing::f32_peak_gops(isa, threads),
                     [&] { pool.run([&](Worker& worker) { kernels.low_gemm(p, worker); }); });
}

struct Shape {
  int64_t m, n, k;
};

[[maybe_unused]] const int kRegistered = [] {
  for (Isa isa : testing::isas_here())
    for (LowType type : {LowType::kBF16, LowType::kU8})
      for (int threads : {1, 2})
        for (const Shape& s : {Shape{3136, 64, 64},
                               {3136, 64, 576},
                               {196, 1024, 256},
                               {49, 512, 2048},
                               {128, 1536, 384},
                               {1024, 1024, 1024},
                               {1, 1000, 2048}}) {
          const std::string name = fmt::format("low_gemm/{}/{}/{}x{}x{}/threads:{}", isa_name(isa),
                                               type == LowType::kBF16 ? "bf16" : "int8", s.m, s.n, s.k, threads);
          benchmark::RegisterBenchmark(name.c_str(), low_gemm, isa, type, s.m, s.n, s.k, threads)->UseRealTime();
        }
  return 0;
}();

}  // namespace
}  // namespace nereid::kernels
