// SPDX-License-Identifier: Apache-2.0
// linear against a plain f64 product of the same packed weights, on every instruction set this machine has.
#include <gtest/gtest.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::kWeightDTypes;
using testing::make_weights;
using testing::random_floats;
using testing::Weights;

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

// w[r] . x[t] in f64 for all tokens and rows.
std::vector<double> product(const Weights& w, const std::vector<float>& x, int64_t tokens) {
  const int64_t rows = w.weight.layout.rows, cols = w.weight.layout.cols;
  std::vector<double> y;
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c)
        sum += double{x[static_cast<size_t>(t * cols + c)]} * double{w.decoded[static_cast<size_t>(r * cols + c)]};
      y.push_back(sum);
    }
  return y;
}

TEST(Packing, unpacking_a_row_gives_what_the_format_decodes) {
  for (DType dtype : kWeightDTypes) {
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
    for (DType dtype : kWeightDTypes) {
      const int64_t cols = is_block_format(dtype) ? 256 * 3 : 100;
      const int64_t rows = 53;
      const Weights w = make_weights(dtype, rows, cols, 11);
      for (int64_t tokens : {1, 2, 3, 7, 16, 33}) {
        const std::vector<float> x = random_floats(static_cast<size_t>(tokens * cols), 5);
        const auto y =
            run_linear(isa_kernels(isa), {.x = x.data(), .x_stride = cols, .tokens = tokens, .weight = w.weight}, 2);
        const std::vector<double> want = product(w, x, tokens);
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

// Float formats may have any width; tiles have 16 rows, the driver takes tokens in blocks of 16, 8, 4, 2 and 1.
TEST(Linear, agrees_with_the_plain_product_at_odd_sizes) {
  for (Isa isa : isas_here())
    for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::q4_1})
      for (int64_t rows : {1, 15, 16, 17, 81})
        for (int64_t cols : {1, 15, 17, 31, 33, 63, 65, 97, 160, 224}) {
          if (is_block_format(dtype) && cols % 32) continue;
          const Weights w = make_weights(dtype, rows, cols, 21);
          for (int64_t tokens : {1, 5, 17}) {
            const std::vector<float> x = random_floats(static_cast<size_t>(tokens * cols), 5);
            const auto y = run_linear(isa_kernels(isa),
                                      {.x = x.data(), .x_stride = cols, .tokens = tokens, .weight = w.weight}, 3);
            const std::vector<double> want = product(w, x, tokens);
            const double tolerance =
                (is_block_format(dtype) ? 2e-2 : 1e-5) * std::max(largest(want), std::sqrt(static_cast<double>(cols)));
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_NEAR(y[i], want[i], tolerance) << dtype_name(dtype) << " isa " << isa_name(isa) << " " << rows
                                                    << " x " << cols << ", tokens " << tokens << " at " << i;
          }
        }
}

TEST(Linear, no_tokens_write_nothing) {
  const Weights w = make_weights(DType::q4_1, 16, 64, 1);
  const std::vector<float> x(64);
  for (Isa isa : isas_here())
    EXPECT_TRUE(
        run_linear(isa_kernels(isa), {.x = x.data(), .x_stride = 64, .tokens = 0, .weight = w.weight}, 2).empty());
}

// Rows of y, x and residual may lie further apart than they are long; what lies between stays as it was.
TEST(Linear, writes_its_rows_and_nothing_between_them) {
  const int64_t rows = 19, cols = 64, tokens = 18, gap = 5;
  for (Isa isa : isas_here())
    for (DType dtype : {DType::f16, DType::q4_0, DType::q6_k}) {
      const int64_t width = dtype == DType::q6_k ? 256 : cols;
      const Weights w = make_weights(dtype, rows, width, 2);
      const std::vector<float> x = random_floats(static_cast<size_t>(tokens * width), 5);
      LinearParams p{.x = x.data(), .x_stride = width, .tokens = tokens, .weight = w.weight};
      const std::vector<float> dense = run_linear(isa_kernels(isa), p, 2);
      std::vector<float> y(static_cast<size_t>(tokens * (rows + gap)), 7.0f);
      Buffer scratch = Buffer::allocate(static_cast<size_t>(linear_scratch_bytes(tokens, width, 2))).value();
      p.y = y.data();
      p.y_stride = rows + gap;
      p.scratch = scratch.data();
      testing::run_kernel(isa_kernels(isa).linear, p, 2);
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t r = 0; r < rows + gap; ++r)
          ASSERT_EQ(y[static_cast<size_t>(t * (rows + gap) + r)],
                    r < rows ? dense[static_cast<size_t>(t * rows + r)] : 7.0f)
              << dtype_name(dtype) << " isa " << isa_name(isa) << " token " << t << " row " << r;
    }
}

// The parts of a fused operation are those of the plain ones, whatever the format of the weights.
TEST(Linear, fuses_gate_norm_and_residual_with_quantised_weights) {
  const int64_t cols = 256, rows = 40;
  for (Isa isa : isas_here())
    for (DType dtype : {DType::q4_0, DType::q4_1, DType::q5_1, DType::q8_0, DType::q2_k, DType::q3_k, DType::q4_k,
                        DType::q6_k, DType::iq4_xs})
      for (int64_t tokens : {1, 3, 16, 35}) {
        const Weights gate = make_weights(dtype, rows, cols, 1);
        const Weights up = make_weights(dtype, rows, cols, 2);
        const auto x = random_floats(static_cast<size_t>(tokens * cols), 3);
        const auto norm = random_floats(static_cast<size_t>(cols), 4);
        const auto residual = random_floats(static_cast<size_t>(tokens * rows), 6);
        const IsaKernels& k = isa_kernels(isa);
        LinearParams p{.x = x.data(),
                       .x_stride = cols,
                       .tokens = tokens,
                       .weight = up.weight,
                       .norm_weight = norm.data(),
                       .norm_eps = 1e-5f};
        const auto u = run_linear(k, p, 2);
        p.weight = gate.weight;
        const auto g = run_linear(k, p, 2);
        p.residual = residual.data();
        p.residual_stride = rows;
        const auto added = run_linear(k, p, 2);
        p.residual = nullptr;
        p.weight_up = up.weight;
        p.activation = Activation::kSilu;
        const auto gated = run_linear(k, p, 2);
        // The norm again in f64: what it is applied to must be the row, not what another token left behind.
        std::vector<float> normalised(x.size());
        for (int64_t t = 0; t < tokens; ++t) {
          double squares = 0;
          for (int64_t c = 0; c < cols; ++c) squares += std::pow(double{x[static_cast<size_t>(t * cols + c)]}, 2);
          const double inverse = 1 / std::sqrt(squares / static_cast<double>(cols) + 1e-5);
          for (int64_t c = 0; c < cols; ++c)
            normalised[static_cast<size_t>(t * cols + c)] =
                static_cast<float>(x[static_cast<size_t>(t * cols + c)] * inverse * norm[static_cast<size_t>(c)]);
        }
        const std::vector<double> want = product(gate, normalised, tokens);
        for (size_t i = 0; i < g.size(); ++i) {
          ASSERT_NEAR(g[i], want[i], 1e-2 * largest(want)) << dtype_name(dtype) << " isa " << isa_name(isa);
          ASSERT_NEAR(gated[i], g[i] / (1 + std::exp(-g[i])) * u[i], 1e-5 * (1 + std::fabs(g[i] * u[i])))
              << dtype_name(dtype) << " isa " << isa_name(isa);
          ASSERT_EQ(added[i], g[i] + residual[i]) << dtype_name(dtype) << " isa " << isa_name(isa);
        }
      }
}

// A residual may be the output itself, as planned memory has it.
TEST(Linear, adds_to_its_own_output) {
  const int64_t cols = 64, rows = 23, tokens = 9;
  const Weights w = make_weights(DType::q8_0, rows, cols, 2);
  const auto x = random_floats(static_cast<size_t>(tokens * cols), 3);
  const auto before = random_floats(static_cast<size_t>(tokens * rows), 4);
  for (Isa isa : isas_here()) {
    LinearParams p{.x = x.data(), .x_stride = cols, .tokens = tokens, .weight = w.weight};
    const auto plain = run_linear(isa_kernels(isa), p, 2);
    auto y = before;
    Buffer scratch = Buffer::allocate(static_cast<size_t>(linear_scratch_bytes(tokens, cols, 2))).value();
    p.y = y.data();
    p.y_stride = p.residual_stride = rows;
    p.residual = y.data();
    p.scratch = scratch.data();
    testing::run_kernel(isa_kernels(isa).linear, p, 2);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], plain[i] + before[i]) << isa_name(isa);
  }
}

}  // namespace
}  // namespace nereid::kernels
