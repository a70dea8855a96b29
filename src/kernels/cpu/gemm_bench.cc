// SPDX-License-Identifier: Apache-2.0
// gemm in f32 by instruction set, shape and threads: Gop/s and the share of the FMA peak, best run.
#include "kernels/cpu/bench_peak.h"
#include "kernels/cpu/gemm.h"

namespace nereid::kernels {
namespace {

void gemm(benchmark::State& state, Isa isa, int64_t m, int64_t n, int64_t k, int threads) {
  const std::vector<float> b = testing::random_floats(static_cast<size_t>(n * k), 1);
  const std::vector<float> bias = testing::random_floats(static_cast<size_t>(n), 2);
  const auto floats = [](int64_t count) { return Buffer::allocate(static_cast<size_t>(count * 4)).value(); };
  Buffer a = floats(m * k), packed = floats(gemm_packed_elements(k, n)), c = floats(m * n);
  const std::vector<float> values = testing::random_floats(static_cast<size_t>(m * k), 3);
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), values.size() * 4, a.data());
  gemm_pack({.b = b.data(), .b_stride = n, .k = k, .n = n, .packed = reinterpret_cast<float*>(packed.data())});
  const GemmParams p{.a = reinterpret_cast<float*>(a.data()),
                     .a_stride = k,
                     .b = reinterpret_cast<float*>(packed.data()),
                     .m = m,
                     .n = n,
                     .k = k,
                     .c = reinterpret_cast<float*>(c.data()),
                     .c_stride = n,
                     .epilogue = {.bias = bias.data(), .act = Act::kRelu}};
  ThreadPool pool({.threads = threads});
  const IsaKernels& kernels = isa_kernels(isa);
  testing::time_best(state, 2.0 * static_cast<double>(m * n * k), testing::f32_peak_gops(isa, threads),
                     [&] { pool.run([&](Worker& worker) { kernels.gemm(p, worker); }); });
}

struct Shape {
  int64_t m, n, k;
};

[[maybe_unused]] const int kRegistered = [] {
  for (Isa isa : testing::isas_here()) {
    if (isa == Isa::amx) continue;  // f32 is avx512's
    for (int threads : {1, 2})
      for (const Shape& s : {Shape{3136, 64, 64},
                             {3136, 256, 64},
                             {3136, 64, 256},
                             {784, 128, 512},
                             {784, 512, 128},
                             {196, 1024, 256},
                             {196, 256, 1024},
                             {49, 2048, 512},
                             {49, 512, 2048},
                             {128, 384, 384},
                             {128, 1536, 384},
                             {128, 384, 1536},
                             {2048, 384, 384},
                             {1024, 1024, 1024},
                             {1, 1000, 2048},
                             {16, 1000, 2048},
                             {12544, 16, 96},
                             {3136, 144, 24}}) {
        const std::string name = fmt::format("gemm/{}/{}x{}x{}/threads:{}", isa_name(isa), s.m, s.n, s.k, threads);
        benchmark::RegisterBenchmark(name.c_str(), gemm, isa, s.m, s.n, s.k, threads)->UseRealTime();
      }
  }
  return 0;
}();

}  // namespace
}  // namespace nereid::kernels
