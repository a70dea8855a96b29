// SPDX-License-Identifier: Apache-2.0
// linear against a plain f64 product of the same packed weights, on every instruction set this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/buffer.h"
#include "kernels/cpu/isa_kernels.h"
#include "quant/format_table.h"

namespace nereid::kernels {
namespace {

struct Weights {
  std::vector<std::byte> raw;
  Buffer packed;
  PackedWeight weight;
  std::vector<float> decoded;  // [rows, cols], as the format decodes
};

std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 rng(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(n);
  for (float& x : v) x = normal(rng);
  return v;
}

Weights make_weights(DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
  Weights w;
  const quant::Format& format = quant::format(dtype);
  const int64_t row_bytes = *dtype_bytes(dtype, cols);
  w.raw.resize(static_cast<size_t>(rows * row_bytes));
  w.decoded.resize(static_cast<size_t>(rows * cols));
  const std::vector<float> values = random_floats(w.decoded.size(), seed);
  for (int64_t r = 0; r < rows; ++r) {
    format.encode(values.data() + r * cols, w.raw.data() + r * row_bytes, cols);
    format.decode(w.raw.data() + r * row_bytes, w.decoded.data() + r * cols, cols);
  }
  const PackedLayout layout = packed_layout(dtype, rows, cols).value();
  w.packed = Buffer::allocate(static_cast<size_t>(layout.bytes())).value();
  const ConstTensorView part(w.raw.data(), dtype, {rows, cols});
  pack_tiles(layout, {&part, 1}, 0, layout.tiles(), w.packed.data());
  w.weight = {layout, w.packed.data()};
  return w;
}

std::vector<Isa> isas_here() {
  std::vector<Isa> out;
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::amx})
    if (isa <= best_isa(read_cpu_info()).value()) out.push_back(isa);
  return out;
}

struct Case {
  DType dtype;
  int64_t rows, cols;
};

constexpr DType kDTypes[] = {DType::f32,  DType::f16,  DType::bf16, DType::q4_0,   DType::q4_1,
                             DType::q5_0, DType::q5_1, DType::q8_0, DType::q2_k,   DType::q3_k,
                             DType::q4_k, DType::q5_k, DType::q6_k, DType::iq4_nl, DType::iq4_xs};

std::vector<float> run_linear(const IsaKernels& kernels, LinearParams p, int threads) {
  ThreadPool pool({.threads = threads});
  const int64_t rows = p.weight.layout.rows;
  std::vector<float> y(static_cast<size_t>(p.tokens * rows));
  Buffer scratch =
      Buffer::allocate(static_cast<size_t>(linear_scratch_bytes(p.tokens, p.weight.layout.cols, threads))).value();
  p.y = y.data();
  p.y_stride = rows;
  p.scratch = scratch.data();
  pool.run([&](Worker& w) { kernels.linear(p, w); });
  return y;
}

double largest(const std::vector<double>& v) {
  double m = 0;
  for (double x : v) m = std::max(m, std::fabs(x));
  return m;
}

TEST(Packing, unpacking_a_row_gives_what_the_format_decodes) {
  for (DType dtype : kDTypes) {
    const int64_t cols = is_block_format(dtype) ? 256 * 3 : 100;
    const Weights w = make_weights(dtype, 37, cols, 7);
    std::vector<float> row(static_cast<size_t>(cols));
    for (int64_t r : {0, 5, 16, 36}) {
      unpack_row(w.weight, r, row.data());
      for (int64_t c = 0; c < cols; ++c) {
        const float want = w.decoded[static_cast<size_t>(r * cols + c)];
        ASSERT_NEAR(row[static_cast<size_t>(c)], want, 2e-3 * std::fabs(want) + 2e-3)
            << dtype_name(dtype) << " " << r << " " << c;
      }
    }
  }
}

TEST(Linear, agrees_with_the_plain_product_for_every_format_and_isa) {
  for (Isa isa : isas_here())
    for (DType dtype : kDTypes) {
      const int64_t cols = is_block_format(dtype) ? 256 * 3 : 100;
      const int64_t rows = 53;
      const Weights w = make_weights(dtype, rows, cols, 11);
      for (int64_t tokens : {1, 2, 3, 7, 16, 33}) {
        const std::vector<float> x = random_floats(static_cast<size_t>(tokens * cols), 5);
        const auto y =
            run_linear(isa_kernels(isa), {.x = x.data(), .x_stride = cols, .tokens = tokens, .weight = w.weight}, 2);
        std::vector<double> want(y.size());
        for (int64_t t = 0; t < tokens; ++t)
          for (int64_t r = 0; r < rows; ++r) {
            double s = 0;
            for (int64_t c = 0; c < cols; ++c)
              s += double{x[static_cast<size_t>(t * cols + c)]} * double{w.decoded[static_cast<size_t>(r * cols + c)]};
            want[static_cast<size_t>(t * rows + r)] = s;
          }
        // int8 activations in groups of 32 err by 0.4 % of a group's largest value, at random signs.
        const double tolerance = (is_block_format(dtype) ? 1e-2 : 1e-5) * largest(want);
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y[i], want[i], tolerance)
              << dtype_name(dtype) << " isa " << static_cast<int>(isa) << " tokens " << tokens << " at " << i;
      }
    }
}

TEST(Linear, one_token_gives_the_same_bits_alone_and_in_a_batch_on_any_number_of_threads) {
  for (Isa isa : isas_here())
    for (DType dtype : {DType::q4_1, DType::q8_0, DType::q6_k, DType::f16}) {
      const int64_t cols = 512, rows = 80, tokens = 23;
      const Weights w = make_weights(dtype, rows, cols, 3);
      const std::vector<float> x = random_floats(static_cast<size_t>(tokens * cols), 9);
      const std::vector<float> norm = random_floats(static_cast<size_t>(cols), 10);
      LinearParams p{.x = x.data(),
                     .x_stride = cols,
                     .tokens = tokens,
                     .weight = w.weight,
                     .norm_weight = norm.data(),
                     .norm_eps = 1e-5f};
      const auto all = run_linear(isa_kernels(isa), p, 1);
      EXPECT_EQ(run_linear(isa_kernels(isa), p, 2), all);
      EXPECT_EQ(run_linear(isa_kernels(isa), p, 3), all);
      p.tokens = 1;
      for (int64_t t = 0; t < tokens; ++t) {
        p.x = x.data() + t * cols;
        const auto one = run_linear(isa_kernels(isa), p, 2);
        EXPECT_TRUE(std::equal(one.begin(), one.end(), all.begin() + t * rows)) << dtype_name(dtype) << " token " << t;
      }
    }
}

TEST(Linear, fuses_gate_activation_bias_and_residual) {
  const int64_t cols = 256, rows = 40, tokens = 5;
  const Weights gate = make_weights(DType::f32, rows, cols, 1);
  const Weights up = make_weights(DType::f32, rows, cols, 2);
  const auto x = random_floats(static_cast<size_t>(tokens * cols), 3);
  const auto residual = random_floats(static_cast<size_t>(tokens * rows), 4);
  const auto bias = random_floats(static_cast<size_t>(rows), 5);
  for (Isa isa : isas_here()) {
    const IsaKernels& k = isa_kernels(isa);
    const LinearParams base{.x = x.data(), .x_stride = cols, .tokens = tokens, .weight = gate.weight};
    LinearParams p = base;
    const auto g = run_linear(k, p, 2);
    p.weight = up.weight;
    const auto u = run_linear(k, p, 2);
    p = base;
    p.weight_up = up.weight;
    p.activation = Activation::kSilu;
    const auto gated = run_linear(k, p, 2);
    p = base;
    p.bias = bias.data();
    p.residual = residual.data();
    p.residual_stride = rows;
    const auto added = run_linear(k, p, 2);
    for (size_t i = 0; i < g.size(); ++i) {
      EXPECT_NEAR(gated[i], g[i] / (1 + std::exp(-g[i])) * u[i], 1e-4 * (1 + std::fabs(g[i] * u[i])));
      EXPECT_NEAR(added[i], g[i] + bias[i % static_cast<size_t>(rows)] + residual[i], 1e-4);
    }
  }
}

}  // namespace
}  // namespace nereid::kernels
