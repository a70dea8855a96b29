// SPDX-License-Identifier: Apache-2.0
// What works on 8-bit codes beside products: dynamic quantising, pooling, programs; on every instruction set here.
#include "kernels/cpu/quantize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/test_kernels.h"
#include "ops/run.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

std::vector<uint8_t> random_codes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> codes(n);
  for (uint8_t& c : codes) c = static_cast<uint8_t>(random());
  return codes;
}

TEST(DynamicQuantize, gives_the_evaluators_codes_on_any_number_of_threads) {
  for (float shift : {0.0f, 3.0f, -3.0f})  // on both sides of zero, or on one
    for (size_t n : {size_t{1}, size_t{15}, size_t{16}, size_t{1000}}) {
      std::vector<float> x = random_floats(n, 5);
      for (float& v : x) v = (shift > 0 ? std::fabs(v) : shift < 0 ? -std::fabs(v) : v) + shift;
      const ConstTensorView view(x.data(), DType::f32, {static_cast<int64_t>(n)});
      const auto want = ops::run(*ops::find_op("dynamic_quantize_linear"), std::span(&view, 1), {}, {}).value();
      for (Isa isa : isas_here())
        for (int threads : {1, 3}) {
          std::vector<uint8_t> y(n);
          alignas(64) std::byte scratch[3 * 128];
          float scale = 0;
          uint8_t zero = 0;
          testing::run_kernel(isa_kernels(isa).dynamic_quantize,
                              DynamicQuantizeParams{.x = x.data(),
                                                    .n = static_cast<int64_t>(n),
                                                    .y = y.data(),
                                                    .scale = &scale,
                                                    .zero = &zero,
                                                    .scratch = scratch},
                              threads);
          EXPECT_EQ(double{scale}, want[1].numbers()[0]) << isa_name(isa);
          EXPECT_EQ(zero, want[2].numbers()[0]) << isa_name(isa);
          EXPECT_EQ(std::vector<double>(y.begin(), y.end()), want[0].numbers()) << isa_name(isa) << " of " << n;
        }
    }
}

// Halves too fall where division lets them fall; what no code is near saturates.
TEST(DynamicQuantize, rounds_by_a_given_scale_as_division_does) {
  const float scale = 0.013f;
  std::vector<float> x;
  for (int i = -700; i <= 700; ++i) x.push_back(static_cast<float>(i) * 0.5f * scale);
  const float infinity = std::numeric_limits<float>::infinity();
  for (float v : {infinity, -infinity, 3e38f, -3e38f, 1e-42f}) x.push_back(v);
  for (float s : {scale, 1e-35f, 1e35f})
    for (Isa isa : isas_here())
      for (int threads : {1, 3}) {
        std::vector<uint8_t> y(x.size());
        float given = s;
        uint8_t zero = 100;
        const DynamicQuantizeParams p{
            .x = x.data(), .n = static_cast<int64_t>(x.size()), .y = y.data(), .scale = &given, .zero = &zero};
        testing::run_kernel(isa_kernels(isa).dynamic_quantize, p, threads);
        for (size_t i = 0; i < x.size(); ++i) {
          const float code = std::clamp(std::nearbyint(x[i] / s) + 100, 0.0f, 255.0f);
          ASSERT_EQ(static_cast<float>(y[i]), code) << isa_name(isa) << " of " << x[i] << " by " << s;
        }
      }
}

TEST(DynamicQuantize, nothing_but_zeros_has_the_scale_1) {
  for (Isa isa : isas_here()) {
    const std::vector<float> x(20, 0.0f);
    std::vector<uint8_t> y(20, 9);
    alignas(64) std::byte scratch[128];
    float scale = 0;
    uint8_t zero = 9;
    testing::run_kernel(isa_kernels(isa).dynamic_quantize,
                        DynamicQuantizeParams{
                            .x = x.data(), .n = 20, .y = y.data(), .scale = &scale, .zero = &zero, .scratch = scratch},
                        1);
    EXPECT_EQ(scale, 1);
    EXPECT_EQ(zero, 0);
    EXPECT_EQ(y, std::vector<uint8_t>(20, 0));
  }
}

double number(LowType type, uint8_t code) {
  return type == LowType::kU8 ? code : static_cast<int8_t>(code);
}

TEST(Pool, takes_the_largest_and_the_mean_of_codes) {
  constexpr int64_t kSize = 5, kOut = 3;
  for (Isa isa : isas_here())
    for (LowType type : {LowType::kU8, LowType::kS8})
      for (int64_t c : {3, 16, 70}) {
        const std::vector<uint8_t> x = random_codes(static_cast<size_t>(kSize * kSize * c), 3);
        std::vector<uint8_t> most(static_cast<size_t>(kOut * kOut * c));
        std::vector<float> mean(most.size());
        PoolParams p{.in_h = kSize,
                     .in_w = kSize,
                     .c = c,
                     .out_h = kOut,
                     .out_w = kOut,
                     .kernel_h = 3,
                     .kernel_w = 3,
                     .stride_h = 2,
                     .stride_w = 2,
                     .pad_top = 1,
                     .pad_left = 1,
                     .x_type = type,
                     .x = x.data(),
                     .x_stride = c,
                     .y = most.data(),
                     .y_stride = c};
        testing::run_kernel(isa_kernels(isa).pool, p, 2);
        p.kind = PoolParams::Kind::kAverage;
        p.y = mean.data();
        testing::run_kernel(isa_kernels(isa).pool, p, 2);
        for (int64_t oh = 0; oh < kOut; ++oh)
          for (int64_t ow = 0; ow < kOut; ++ow)
            for (int64_t k = 0; k < c; ++k) {
              double largest = -1000, sum = 0, count = 0;
              for (int64_t h = std::max<int64_t>(0, 2 * oh - 1); h <= std::min<int64_t>(kSize - 1, 2 * oh + 1); ++h)
                for (int64_t w = std::max<int64_t>(0, 2 * ow - 1); w <= std::min<int64_t>(kSize - 1, 2 * ow + 1); ++w) {
                  const double v = number(type, x[static_cast<size_t>((h * kSize + w) * c + k)]);
                  largest = std::max(largest, v);
                  sum += v;
                  ++count;
                }
              const auto at = static_cast<size_t>((oh * kOut + ow) * c + k);
              ASSERT_EQ(number(type, most[at]), largest) << isa_name(isa);
              ASSERT_NEAR(double{mean[at]}, sum / count, 1e-4) << isa_name(isa);
            }
      }
}

TEST(GlobalPool, takes_the_mean_of_codes) {
  for (Isa isa : isas_here())
    for (int64_t c : {3, 70}) {
      const std::vector<uint8_t> x = random_codes(static_cast<size_t>(49 * c), 4);
      std::vector<float> y(static_cast<size_t>(c));
      testing::run_kernel(
          isa_kernels(isa).global_pool,
          GlobalPoolParams{
              .pixels = 49, .c = c, .x_type = LowType::kU8, .x = x.data(), .x_stride = c, .y = y.data(), .y_stride = c},
          2);
      for (int64_t k = 0; k < c; ++k) {
        double sum = 0;
        for (int64_t i = 0; i < 49; ++i) sum += x[static_cast<size_t>(i * c + k)];
        ASSERT_NEAR(double{y[static_cast<size_t>(k)]}, sum / 49, 1e-4) << isa_name(isa);
      }
    }
}

// y = code(x + 3 broadcast row), in rows of odd length, some of them apart.
TEST(Program, reads_and_writes_codes) {
  for (Isa isa : isas_here())
    for (LowType type : {LowType::kU8, LowType::kS8})
      for (int64_t gap : {0, 5}) {
        constexpr int64_t kRows = 7, kColumns = 37;
        const int64_t stride = kColumns + gap;
        const std::vector<uint8_t> x = random_codes(static_cast<size_t>(kRows * stride), 1);
        const std::vector<float> row = random_floats(kColumns, 2);
        std::vector<uint8_t> y(x.size(), 77);
        const ProgramStep steps[] = {{.op = Primitive::kMulAdd, .a = 1, .b = 2, .c = 0}};
        const float fifty = 50;
        const ProgramInput inputs[] = {{.data = x.data(), .strides = {stride, 1}, .type = type},
                                       {.data = row.data(), .strides = {0, 1}},
                                       {.data = &fifty, .strides = {0, 0}}};
        const ProgramOutput out{.data = y.data(), .strides = {stride, 1}, .value = 3, .type = type};
        ProgramParams p{.steps = steps,
                        .step_count = 1,
                        .inputs = inputs,
                        .input_count = 3,
                        .outputs = &out,
                        .output_count = 1,
                        .rank = 2,
                        .dims = {kRows, kColumns}};
        Buffer scratch = Buffer::allocate(static_cast<size_t>(program_scratch_bytes(3, 1, 2))).value();
        p.scratch = scratch.data();
        testing::run_kernel(isa_kernels(isa).elementwise_program, p, 2);
        const double low = type == LowType::kU8 ? 0 : -128;
        for (int64_t r = 0; r < kRows; ++r)
          for (int64_t c = 0; c < stride; ++c) {
            const auto at = static_cast<size_t>(r * stride + c);
            if (c >= kColumns) {
              ASSERT_EQ(y[at], 77) << "a gap was written";
              continue;
            }
            const double exact = number(type, x[at]) + 50 * double{row[static_cast<size_t>(c)]};
            ASSERT_NEAR(number(type, y[at]), std::clamp(exact, low, low + 255), 0.501) << isa_name(isa);
          }
      }
}

TEST(Program, rounds_halves_to_the_even_code_and_keeps_infinities_in_range) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.5f, 1.5f, 2.5f, -0.5f, 254.5f, 255.5f, -1, 1e30f, -infinity, infinity};
  for (Isa isa : isas_here()) {
    std::vector<uint8_t> y(x.size());
    const ProgramStep step{.op = Primitive::kCopy};
    const ProgramInput in{.data = x.data(), .strides = {1}};
    const ProgramOutput out{.data = y.data(), .strides = {1}, .value = 1, .type = LowType::kU8};
    ProgramParams p{.steps = &step,
                    .step_count = 1,
                    .inputs = &in,
                    .input_count = 1,
                    .outputs = &out,
                    .output_count = 1,
                    .dims = {static_cast<int64_t>(x.size())}};
    Buffer scratch = Buffer::allocate(static_cast<size_t>(program_scratch_bytes(1, 1, 1))).value();
    p.scratch = scratch.data();
    testing::run_kernel(isa_kernels(isa).elementwise_program, p, 1);
    EXPECT_EQ(y, (std::vector<uint8_t>{0, 2, 2, 0, 254, 255, 0, 255, 0, 255})) << isa_name(isa);
  }
}

}  // namespace
}  // namespace nereid::kernels
