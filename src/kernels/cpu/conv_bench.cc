// SPDX-License-Identifier: Apache-2.0
// conv in f32 by instruction set, shape and threads: Gop/s of the direct form and its share of the FMA peak, best run.
// (Winograd does fewer multiplications than it is credited with: above 100 % is possible.)
#include "kernels/cpu/bench_peak.h"
#include "kernels/cpu/conv.h"

namespace nereid::kernels {
namespace {

struct Case {
  int64_t size, in_c, out_c, kernel, stride, groups;
};

void conv(benchmark::State& state, Isa isa, const Case& c, ConvAlgorithm algorithm, int threads) {
  const int64_t pad = c.kernel / 2, out = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  const ConvShape s{.in_h = c.size,
                    .in_w = c.size,
                    .in_c = c.in_c,
                    .out_h = out,
                    .out_w = out,
                    .out_c = c.out_c,
                    .kernel_h = c.kernel,
                    .kernel_w = c.kernel,
                    .stride_h = c.stride,
                    .stride_w = c.stride,
                    .pad_top = pad,
                    .pad_left = pad,
                    .groups = c.groups};
  const int64_t weights = c.out_c * c.in_c / c.groups * c.kernel * c.kernel;
  const std::vector<float> w = testing::random_floats(static_cast<size_t>(weights), 1);
  const std::vector<float> bias = testing::random_floats(static_cast<size_t>(c.out_c), 2);
  const std::vector<float> values = testing::random_floats(static_cast<size_t>(c.size * c.size * c.in_c), 3);
  const auto floats = [](int64_t count) { return Buffer::allocate(static_cast<size_t>(count * 4)).value(); };
  Buffer x = floats(c.size * c.size * c.in_c), y = floats(out * out * c.out_c);
  Buffer packed = floats(conv_weight_elements(s, algorithm));
  Buffer scratch = Buffer::allocate(static_cast<size_t>(conv_scratch_bytes(s, algorithm, threads) + 64)).value();
  std::copy_n(reinterpret_cast<const std::byte*>(values.data()), values.size() * 4, x.data());
  conv_pack_weight(s, algorithm, w.data(), reinterpret_cast<float*>(packed.data()));
  const ConvParams p{.shape = s,
                     .algorithm = algorithm,
                     .x = reinterpret_cast<float*>(x.data()),
                     .x_stride = c.in_c,
                     .weight = reinterpret_cast<float*>(packed.data()),
                     .y = reinterpret_cast<float*>(y.data()),
                     .y_stride = c.out_c,
                     .epilogue = {.bias = bias.data(), .act = Act::kRelu},
                     .scratch = scratch.data()};
  ThreadPool pool({.threads = threads});
  const IsaKernels& kernels = isa_kernels(isa);
  testing::time_best(state, 2.0 * static_cast<double>(out * out * weights), testing::f32_peak_gops(isa, threads),
                     [&] { pool.run([&](Worker& worker) { kernels.conv(p, worker); }); });
}

[[maybe_unused]] const int kRegistered = [] {
  for (Isa isa : testing::isas_here()) {
    if (isa == Isa::amx) continue;  // f32 is avx512's
    for (int threads : {1, 2})
      for (const Case& c : {Case{224, 3, 64, 7, 2, 1},
                            {224, 3, 32, 3, 2, 1},
                            {56, 64, 64, 3, 1, 1},
                            {28, 128, 128, 3, 1, 1},
                            {14, 256, 256, 3, 1, 1},
                            {7, 512, 512, 3, 1, 1},
                            {56, 128, 128, 3, 2, 1},
                            {14, 1024, 2048, 1, 2, 1},
                            {112, 32, 32, 3, 1, 32},
                            {112, 96, 96, 3, 2, 96},
                            {28, 192, 192, 3, 1, 192},
                            {14, 576, 576, 3, 1, 576},
                            {40, 120, 120, 5, 1, 120}})
        for (ConvAlgorithm algorithm :
             {ConvAlgorithm::kGemm, ConvAlgorithm::kDepthwise, ConvAlgorithm::kWinograd2, ConvAlgorithm::kWinograd4}) {
          const ConvShape s{.in_c = c.in_c,
                            .out_c = c.out_c,
                            .kernel_h = c.kernel,
                            .kernel_w = c.kernel,
                            .stride_h = c.stride,
                            .stride_w = c.stride,
                            .groups = c.groups};
          if (!conv_has_algorithm(s, algorithm) || (c.groups > 1 && algorithm == ConvAlgorithm::kGemm)) continue;
          static constexpr const char* kNames[] = {"gemm", "depthwise", "winograd2", "winograd4"};
          const std::string name = fmt::format("conv/{}/{}/{}x{}/{}to{}/kernel:{}/stride:{}/threads:{}", isa_name(isa),
                                               kNames[static_cast<size_t>(algorithm)], c.size, c.size, c.in_c, c.out_c,
                                               c.kernel, c.stride, threads);
          benchmark::RegisterBenchmark(name.c_str(), conv, isa, c, algorithm, threads)->UseRealTime();
        }
  }
  return 0;
}();

}  // namespace
}  // namespace nereid::kernels
