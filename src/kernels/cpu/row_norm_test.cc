// SPDX-License-Identifier: Apache-2.0
// Softmax, layer norm and row reductions against f64, on every instruction set this machine has.
#include "kernels/cpu/row_norm.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Softmax, agrees_with_f64_with_scale_and_mask) {
  const int64_t rows = 12;
  for (Isa isa : isas_here())
    for (int64_t cols : {1, 5, 16, 50, 128})
      for (const bool is_log : {false, true})
        for (const bool masked : {false, true}) {
          const std::vector<float> x = random_floats(at(rows * cols), 1);
          std::vector<float> mask(at(2 * cols), 0.0f);
          for (int64_t i = 0; i < 2 * cols; i += 3) mask[at(i)] = cols > 3 ? -kInfinity : 0;
          std::vector<float> y = x;
          SoftmaxParams p{.x = y.data(),
                          .x_stride = cols,
                          .rows = rows,
                          .cols = cols,
                          .scale = 3,
                          .is_log = is_log,
                          .y = y.data(),
                          .y_stride = cols};
          if (masked) {
            p.mask = mask.data();
            p.mask_stride = cols;
            p.mask_rows = 2;
            p.mask_repeat = 3;
          }
          testing::run_kernel(isa_kernels(isa).softmax, p, 3);
          for (int64_t r = 0; r < rows; ++r) {
            const auto value = [&](int64_t c) {
              return 3 * double{x[at(r * cols + c)]} + (masked ? double{mask[at(r / 3 % 2 * cols + c)]} : 0.0);
            };
            double sum = 0;
            for (int64_t c = 0; c < cols; ++c) sum += std::exp(value(c));
            for (int64_t c = 0; c < cols; ++c) {
              const double want = is_log ? value(c) - std::log(sum) : std::exp(value(c)) / sum;
              if (want < -1e30)
                ASSERT_LT(y[at(r * cols + c)], -1e30);
              else
                ASSERT_NEAR(y[at(r * cols + c)], want, is_log ? 3e-6 : 5e-7) << cols << " columns";
            }
          }
        }
}

TEST(Softmax, survives_large_values_and_rows_of_minus_infinity) {
  for (Isa isa : isas_here()) {
    std::vector<float> x = {1e30f, -1e30f, 3e38f, 0, -kInfinity, -kInfinity, -kInfinity, -kInfinity};
    std::vector<float> y(8);
    testing::run_kernel(
        isa_kernels(isa).softmax,
        SoftmaxParams{.x = x.data(), .x_stride = 4, .rows = 2, .cols = 4, .y = y.data(), .y_stride = 4});
    EXPECT_EQ(y, (std::vector<float>{0, 0, 1, 0, 0.25f, 0.25f, 0.25f, 0.25f}));
  }
}

TEST(LayerNorm, agrees_with_f64_in_all_its_forms) {
  const int64_t rows = 7;
  for (Isa isa : isas_here())
    for (int64_t cols : {1, 16, 37, 384})
      for (int form = 0; form < 32; ++form) {
        const bool rms = form & 16;
        const std::vector<float> x = random_floats(at(rows * cols), 1), other = random_floats(at(rows * cols), 2);
        const std::vector<float> weight = random_floats(at(cols), 3), bias = random_floats(at(cols), 4);
        std::vector<float> y(at(rows * cols)), sum(at(rows * cols));
        LayerNormParams p{.x = x.data(),
                          .x_stride = cols,
                          .rows = rows,
                          .cols = cols,
                          .residual = form & 1 ? other.data() : nullptr,
                          .residual_stride = cols,
                          .weight = form & 2 ? weight.data() : nullptr,
                          .bias = form & 4 ? bias.data() : nullptr,
                          .eps = 1e-5f,
                          .is_rms = rms,
                          .sum = form & 8 ? sum.data() : nullptr,
                          .sum_stride = cols,
                          .y = y.data(),
                          .y_stride = cols};
        testing::run_kernel(isa_kernels(isa).layer_norm, p, 2);
        for (int64_t r = 0; r < rows; ++r) {
          const auto value = [&](int64_t c) {
            return double{x[at(r * cols + c)]} + (p.residual ? double{other[at(r * cols + c)]} : 0.0);
          };
          double mean = 0, squares = 0;
          for (int64_t c = 0; c < cols; ++c) mean += value(c);
          mean = rms ? 0 : mean / static_cast<double>(cols);
          for (int64_t c = 0; c < cols; ++c) squares += (value(c) - mean) * (value(c) - mean);
          const double inverse = 1 / std::sqrt(squares / static_cast<double>(cols) + 1e-5);
          for (int64_t c = 0; c < cols; ++c) {
            const double want = (value(c) - mean) * inverse * (p.weight ? double{weight[at(c)]} : 1) +
                                (p.bias ? double{bias[at(c)]} : 0);
            ASSERT_NEAR(y[at(r * cols + c)], want, 1e-5) << cols << " columns, form " << form;
            if (p.sum) {
              ASSERT_NEAR(sum[at(r * cols + c)], value(c), 1e-6);
            }
          }
        }
      }
}

TEST(RowReduce, agrees_with_f64) {
  using Kind = RowReduceParams::Kind;
  const int64_t rows = 5;
  for (Isa isa : isas_here())
    for (int64_t cols : {1, 15, 16, 100}) {
      const std::vector<float> x = random_floats(at(rows * cols), 1);
      for (Kind kind : {Kind::kSum, Kind::kMean, Kind::kMax, Kind::kMin, Kind::kSumSquares, Kind::kL2}) {
        std::vector<float> y(at(rows));
        testing::run_kernel(
            isa_kernels(isa).row_reduce,
            RowReduceParams{.kind = kind, .x = x.data(), .x_stride = cols, .rows = rows, .cols = cols, .y = y.data()});
        for (int64_t r = 0; r < rows; ++r) {
          double sum = 0, squares = 0, most = -1e30, least = 1e30;
          for (int64_t c = 0; c < cols; ++c) {
            const double v = double{x[at(r * cols + c)]};
            sum += v;
            squares += v * v;
            most = std::max(most, v);
            least = std::min(least, v);
          }
          const double want = kind == Kind::kSum          ? sum
                              : kind == Kind::kMean       ? sum / static_cast<double>(cols)
                              : kind == Kind::kMax        ? most
                              : kind == Kind::kMin        ? least
                              : kind == Kind::kSumSquares ? squares
                                                          : std::sqrt(squares);
          ASSERT_NEAR(y[at(r)], want, 1e-4);
        }
      }
    }
}

}  // namespace
}  // namespace nereid::kernels
