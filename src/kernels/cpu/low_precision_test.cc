// SPDX-License-Identifier: Apache-2.0
// Low-precision products and convolutions against plain loops, on every instruction set this machine has.
#include "kernels/cpu/low_precision.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/float_convert.h"
#include "kernels/cpu/test_epilogue.h"
#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

// Numbers of any type, as bytes and as what they stand for.
struct Numbers {
  LowType type;
  std::vector<std::byte> bytes;
  std::vector<float> values;  // codes as they are

  Numbers(LowType t, int64_t n, uint32_t seed) : type(t), bytes(at(n * low_bytes(t))), values(at(n)) {
    const std::vector<float> random = random_floats(at(n), seed);
    for (int64_t i = 0; i < n; ++i) set(i, random[at(i)] * (low_is_int8(t) ? 60.0f : 1.0f));
  }
  void set(int64_t i, float v) {
    std::byte* p = bytes.data() + i * low_bytes(type);
    if (type == LowType::kF32) {
      std::memcpy(p, &v, 4);
    } else if (type == LowType::kBF16) {
      const uint16_t h = f32_to_bf16(v);
      std::memcpy(p, &h, 2);
      v = bf16_to_f32(h);
    } else {
      const bool is_signed = type == LowType::kS8;
      // Both ends occur: products of 255 and -128 must not saturate.
      const float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
      v = std::clamp(std::round(v) + (is_signed ? 0.0f : 128.0f), low, high);
      if (i % 5 == 0) v = i % 10 ? low : high;
      *p = static_cast<std::byte>(static_cast<int>(v) & 0xff);
    }
    values[at(i)] = v;
  }
};

float read(LowType type, const std::byte* p) {
  if (type == LowType::kF32) {
    float v;
    std::memcpy(&v, p, 4);
    return v;
  }
  if (type == LowType::kBF16) {
    uint16_t h;
    std::memcpy(&h, p, 2);
    return bf16_to_f32(h);
  }
  return type == LowType::kU8 ? static_cast<float>(static_cast<uint8_t>(*p))
                              : static_cast<float>(static_cast<int8_t>(*p));
}

// What an output element must be, from its sum: the epilogue, then what its type makes of it.
double finished(const LowEpilogue& e, double v, double residual) {
  if (e.residual && !e.residual_last) v += residual;
  v = testing::reference_act(e.act, double{e.alpha}, double{e.beta}, v);
  if (e.residual && e.residual_last) v += residual;
  return v;
}
void expect_near(const LowEpilogue& e, const std::byte* p, double want, double error, const std::string& where) {
  const double got = double{read(e.y_type, p)};
  switch (e.y_type) {
    case LowType::kF32:
      ASSERT_NEAR(got, want, error) << where;
      break;
    case LowType::kBF16:
      ASSERT_NEAR(got, want, error + std::fabs(want) / 250) << where;
      break;
    case LowType::kU8:
    case LowType::kS8: {
      const double low = e.y_type == LowType::kU8 ? 0 : -128, high = e.y_type == LowType::kU8 ? 255 : 127;
      const double code = want * double{e.y_inverse_scale} + e.y_zero;
      ASSERT_NEAR(got, std::clamp(code, low, high), 0.501 + error * double{e.y_inverse_scale}) << where;
    }
  }
}

struct Weights {
  std::vector<float> values;  // rounded to bf16, or whole
  std::vector<int8_t> codes;
};
Weights make_weights(LowType a, int64_t n, uint32_t seed) {
  Weights w{random_floats(at(n), seed), {}};
  for (size_t i = 0; i < w.values.size(); ++i) {
    float& v = w.values[i];
    if (!low_is_int8(a)) {
      v = bf16_to_f32(f32_to_bf16(v));
      continue;
    }
    v = i % 7 == 0 ? (i % 14 ? -128.0f : 127.0f) : std::clamp(std::round(v * 50), -128.0f, 127.0f);
    w.codes.push_back(static_cast<int8_t>(v));
  }
  return w;
}

// Where codes are looked up they are those that y has without it, looked up; gaps between rows stay as they are.
template <typename Params>
void expect_mapped(void (*kernel)(const Params&, Worker&), Params p, void* Params::*result,
                   const std::vector<std::byte>& y, int64_t columns, int64_t stride, Isa isa, int threads) {
  std::vector<uint8_t> map(256);
  for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<uint8_t>(i * 77 + 31);
  std::vector<std::byte> mapped(y.size(), std::byte{7});
  p.*result = mapped.data();
  p.epilogue.map = map.data();
  p.epilogue.map_codes = map_codes_of(isa);
  testing::run_kernel(kernel, p, threads);
  for (size_t i = 0; i < y.size(); ++i) {
    const bool gap = static_cast<int64_t>(i) % stride >= columns;
    ASSERT_EQ(mapped[i], gap ? y[i] : std::byte{map[static_cast<uint8_t>(y[i])]}) << isa_name(isa) << " at " << i;
  }
}

struct GemmCase {
  LowType a, y;
  int64_t m, n, k;
  bool fancy;  // residual, activation, gaps
};

std::vector<std::byte> check_gemm(const GemmCase& c, Isa isa, int threads) {
  const int64_t gap = c.fancy ? 3 : 0;
  const bool int8 = low_is_int8(c.a);
  Numbers a(c.a, c.m * (c.k + gap) - gap, 1);
  const Weights w = make_weights(c.a, c.k * c.n, 2);  // [n, k]
  const std::vector<float> bias = random_floats(at(c.n), 3);
  std::vector<float> scale(at(c.n));
  for (int64_t j = 0; j < c.n; ++j) scale[at(j)] = 1e-3f * static_cast<float>(1 + j % 4);
  const int32_t a_zero = int8 ? (c.a == LowType::kU8 ? 121 : -3) : 0;
  std::vector<int32_t> offsets(at(c.n));
  Buffer packed = Buffer::allocate(static_cast<size_t>(low_packed_bytes(c.a, c.k, c.n))).value();
  if (int8) {
    low_pack_int8(w.codes.data(), c.k, true, c.k, c.n, packed.data());
    low_column_offsets(w.codes.data(), c.n, c.k, c.a, a_zero, offsets.data());
  } else {
    low_pack_bf16(w.values.data(), c.k, true, c.k, c.n, packed.data());
  }
  Numbers residual(c.fancy ? c.y : LowType::kF32, c.m * (c.n + gap), 4);
  std::vector<std::byte> y(at(c.m * (c.n + gap) * low_bytes(c.y)), std::byte{7});
  LowEpilogue e{.scale = int8 ? scale.data() : nullptr,
                .column_offset = int8 ? offsets.data() : nullptr,
                .bias = bias.data(),
                .y_type = c.y,
                .y_inverse_scale = 20,
                .y_zero = c.y == LowType::kU8 ? 100 : -5};
  if (c.fancy) {
    e.residual = residual.bytes.data();
    e.residual_type = residual.type;
    e.residual_stride = c.n + gap;
    e.residual_scale = 0.02f;
    e.residual_zero = 7;
    e.residual_last = c.m % 2;
    e.act = Act::kSilu;
  }
  LowGemmParams p{.a = a.bytes.data(),
                  .a_type = c.a,
                  .a_stride = c.k + gap,
                  .b = packed.data(),
                  .m = c.m,
                  .n = c.n,
                  .k = c.k,
                  .c = y.data(),
                  .c_stride = c.n + gap,
                  .epilogue = e};
  Buffer scratch = Buffer::allocate(static_cast<size_t>(low_gemm_scratch_bytes(p, threads))).value();
  p.scratch = scratch.data();
  testing::run_kernel(isa_kernels(isa).low_gemm, p, threads);
  if (c.y == LowType::kU8)
    expect_mapped(isa_kernels(isa).low_gemm, p, &LowGemmParams::c, y, c.n, c.n + gap, isa, threads);
  for (int64_t i = 0; i < c.m; ++i)
    for (int64_t j = 0; j < c.n + gap; ++j) {
      const int64_t to = i * (c.n + gap) + j;
      const std::byte* got = y.data() + to * low_bytes(c.y);
      if (j >= c.n) {
        EXPECT_EQ(*got, std::byte{7}) << "a gap was written";
        continue;
      }
      double sum = 0, size = 0;
      for (int64_t k = 0; k < c.k; ++k) {
        float v = a.values[at(i * (c.k + gap) + k)];
        if (c.a == LowType::kF32) v = bf16_to_f32(f32_to_bf16(v));
        const double product = (double{v} - a_zero) * double{w.values[at(j * c.k + k)]};
        sum += product;
        size += std::fabs(product);
      }
      if (int8) sum *= double{scale[at(j)]}, size *= double{scale[at(j)]};
      sum += double{bias[at(j)]};
      double r = double{residual.values[at(to)]};
      if (low_is_int8(residual.type)) r = (r - 7) * double{e.residual_scale};
      expect_near(e, got, finished(e, sum, c.fancy ? r : 0), 3e-6 * size + 1e-5,
                  fmt::format("{} a {} y {} m {} n {} k {} at {}, {}", isa_name(isa), static_cast<int>(c.a),
                              static_cast<int>(c.y), c.m, c.n, c.k, i, j));
      if (::testing::Test::HasFatalFailure()) return y;
    }
  return y;
}

constexpr LowType kTypes[] = {LowType::kF32, LowType::kBF16, LowType::kU8, LowType::kS8};

TEST(LowGemm, agrees_with_the_plain_product_for_all_types_and_odd_sizes) {
  for (Isa isa : isas_here())
    for (LowType a : kTypes)
      for (LowType y : kTypes)
        for (int64_t m : {1, 5, 14, 33})
          for (int64_t n : {1, 16, 40})
            for (int64_t k : {1, 2, 7, 32, 68, 130}) {
              check_gemm({a, y, m, n, k, false}, isa, 2);
              check_gemm({a, y, m, n, k, true}, isa, 1);
              if (HasFailure()) return;
            }
}

TEST(LowGemm, gives_the_same_bits_on_any_number_of_threads) {
  for (Isa isa : isas_here())
    for (LowType a : kTypes) {
      const GemmCase c{a, LowType::kF32, 70, 72, 100, true};
      const std::vector<std::byte> one = check_gemm(c, isa, 1);
      for (int threads : {2, 3, 6}) EXPECT_EQ(check_gemm(c, isa, threads), one) << threads;
    }
}

// Sums are whole and scales powers of two: every rounding is exact.
TEST(LowGemm, rounds_to_the_grid_of_codes_before_it_adds_the_residual) {
  constexpr int64_t kM = 5, kN = 20, kK = 12;
  const Numbers a(LowType::kU8, kM * kK, 1);
  const Weights w = make_weights(LowType::kU8, kK * kN, 2);
  const std::vector<float> scale(kN, 1.0f / 64);
  Buffer packed = Buffer::allocate(static_cast<size_t>(low_packed_bytes(LowType::kU8, kK, kN))).value();
  low_pack_int8(w.codes.data(), kK, true, kK, kN, packed.data());
  const std::vector<float> residual(at(kM * kN), 3.0f);
  for (Isa isa : isas_here())
    for (bool last : {false, true}) {
      std::vector<float> y(residual.size());
      LowGemmParams p{.a = a.bytes.data(),
                      .a_type = LowType::kU8,
                      .a_stride = kK,
                      .b = packed.data(),
                      .m = kM,
                      .n = kN,
                      .k = kK,
                      .c = y.data(),
                      .c_stride = kN,
                      .epilogue = {.scale = scale.data(),
                                   .residual = residual.data(),
                                   .residual_stride = kN,
                                   .residual_last = last,
                                   .sum_scale = 4,
                                   .sum_inverse_scale = 0.25f,
                                   .sum_zero = 100,
                                   .act = Act::kRelu}};
      Buffer scratch = Buffer::allocate(static_cast<size_t>(low_gemm_scratch_bytes(p, 1))).value();
      p.scratch = scratch.data();
      testing::run_kernel(isa_kernels(isa).low_gemm, p, 1);
      for (int64_t i = 0; i < kM; ++i)
        for (int64_t j = 0; j < kN; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < kK; ++k) sum += double{a.values[at(i * kK + k)]} * double{w.values[at(j * kK + k)]};
          double v = sum / 64;
          if (last) v = std::max(0.0, v);
          v = (std::clamp(std::nearbyint(v / 4) + 100, 0.0, 255.0) - 100) * 4 + 3;
          EXPECT_EQ(double{y[at(i * kN + j)]}, last ? v : std::max(0.0, v)) << isa_name(isa);
        }
    }
}

// Three colours in planes give the bits that they give side by side.
void expect_same_of_planes(LowConvParams p, const std::vector<float>& x, const std::vector<std::byte>& y, Isa isa,
                           int threads) {
  const ConvShape& s = p.shape;
  const int64_t pixels = s.in_h * s.in_w;
  std::vector<float> planes(at(s.batch * 3 * pixels));
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t i = 0; i < pixels; ++i)
      for (int64_t c = 0; c < 3; ++c) planes[at((n * 3 + c) * pixels + i)] = x[at((n * pixels + i) * p.x_stride + c)];
  std::vector<std::byte> again = y;  // what lies between the rows stays
  for (int64_t i = 0; i < s.batch * s.out_h * s.out_w; ++i)
    std::memset(again.data() + i * p.y_stride * low_bytes(p.epilogue.y_type), 0,
                static_cast<size_t>(s.out_c * low_bytes(p.epilogue.y_type)));
  p.x = planes.data();
  p.x_planes = true;
  p.y = again.data();
  testing::run_kernel(isa_kernels(isa).low_conv, p, threads);
  ASSERT_EQ(again, y) << isa_name(isa);
}

void check_conv(ConvShape s, LowType x_type, LowType y_type, int64_t gap, Isa isa, int threads) {
  const bool int8 = low_is_int8(x_type), depthwise = low_conv_is_depthwise(s);
  s.out_h = (s.in_h + 2 * s.pad_top - (s.kernel_h - 1) * s.dilation_h - 1) / s.stride_h + 1;
  s.out_w = (s.in_w + 2 * s.pad_left - (s.kernel_w - 1) * s.dilation_w - 1) / s.stride_w + 1;
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups, taps = s.kernel_h * s.kernel_w;
  const int64_t x_stride = s.in_c + gap, y_stride = s.out_c + gap;
  const Numbers x(x_type, s.batch * s.in_h * s.in_w * x_stride - gap, 1);
  const Weights w = make_weights(x_type, s.out_c * channels * taps, 2);
  const std::vector<float> bias = random_floats(at(s.out_c), 3);
  const std::vector<float> scale(at(s.out_c), 2e-3f);
  const int32_t zero = int8 ? (x_type == LowType::kU8 ? 121 : -3) : 0;
  std::vector<int32_t> offsets(at(s.out_c));
  Buffer packed = Buffer::allocate(static_cast<size_t>(low_conv_weight_bytes(s, x_type))).value();
  if (int8) {
    low_pack_conv_int8(s, w.codes.data(), packed.data());
    low_column_offsets(w.codes.data(), s.out_c, channels * taps, x_type, zero, offsets.data());
  } else {
    low_pack_conv_bf16(s, w.values.data(), packed.data());
  }
  std::vector<std::byte> y(at(s.batch * s.out_h * s.out_w * y_stride * low_bytes(y_type)), std::byte{7});
  const LowEpilogue e{.scale = int8 ? scale.data() : nullptr,
                      .column_offset = int8 && !depthwise ? offsets.data() : nullptr,
                      .bias = bias.data(),
                      .act = Act::kRelu,
                      .y_type = y_type,
                      .y_inverse_scale = 20,
                      .y_zero = s.stride_w == 1 ? 0 : 3};  // relu ends where u8 does, or does not
  LowConvParams p{.shape = s,
                  .x = x.bytes.data(),
                  .x_type = x_type,
                  .x_stride = x_stride,
                  .x_zero = zero,
                  .weight = packed.data(),
                  .y = y.data(),
                  .y_stride = y_stride,
                  .epilogue = e};
  Buffer scratch = Buffer::allocate(static_cast<size_t>(low_conv_scratch_bytes(s, x_type, threads) + 64)).value();
  p.scratch = scratch.data();
  testing::run_kernel(isa_kernels(isa).low_conv, p, threads);
  if (y_type == LowType::kU8)
    expect_mapped(isa_kernels(isa).low_conv, p, &LowConvParams::y, y, s.out_c, y_stride, isa, threads);
  if (x_type == LowType::kF32 && s.in_c == 3 && s.groups == 1) expect_same_of_planes(p, x.values, y, isa, threads);
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oh = 0; oh < s.out_h; ++oh)
      for (int64_t ow = 0; ow < s.out_w; ++ow)
        for (int64_t o = 0; o < s.out_c; ++o) {
          double sum = 0, size = 0;
          for (int64_t kh = 0; kh < s.kernel_h; ++kh)
            for (int64_t kw = 0; kw < s.kernel_w; ++kw)
              for (int64_t c = 0; c < channels; ++c) {
                const int64_t h = oh * s.stride_h - s.pad_top + kh * s.dilation_h;
                const int64_t v = ow * s.stride_w - s.pad_left + kw * s.dilation_w;
                if (h < 0 || v < 0 || h >= s.in_h || v >= s.in_w) continue;
                float in = x.values[at(((n * s.in_h + h) * s.in_w + v) * x_stride + o / outputs * channels + c)];
                if (x_type == LowType::kF32 && !depthwise) in = bf16_to_f32(f32_to_bf16(in));
                const double product =
                    (double{in} - zero) * double{w.values[at((o * channels + c) * taps + kh * s.kernel_w + kw)]};
                sum += product;
                size += std::fabs(product);
              }
          if (int8) sum *= 2e-3, size *= 2e-3;
          expect_near(e, y.data() + (((n * s.out_h + oh) * s.out_w + ow) * y_stride + o) * low_bytes(y_type),
                      std::max(0.0, sum + double{bias[at(o)]}), 3e-6 * size + 1e-5,
                      fmt::format("{} x {} y {} {}x{}x{} -> {}, kernel {} stride {} pad {} groups {} at {} {} {} {}",
                                  isa_name(isa), static_cast<int>(x_type), static_cast<int>(y_type), s.in_h, s.in_w,
                                  s.in_c, s.out_c, s.kernel_h, s.stride_h, s.pad_top, s.groups, n, oh, ow, o));
          if (::testing::Test::HasFatalFailure()) return;
        }
}

TEST(LowConv, agrees_with_the_plain_loop) {
  for (Isa isa : isas_here())
    for (LowType x : kTypes)
      for (int64_t width : {7, 13, 27})
        for (int64_t channels : {3, 16, 36})
          for (int64_t kernel : {1, 3})
            for (int64_t stride : {1, 2})
              for (int64_t dilation : {1, 2})
                for (int64_t pad : {0, 1}) {
                  const ConvShape s{.batch = 2,
                                    .in_h = 7,
                                    .in_w = width,
                                    .in_c = channels,
                                    .out_c = 36,
                                    .kernel_h = kernel,
                                    .kernel_w = kernel,
                                    .stride_h = stride,
                                    .stride_w = stride,
                                    .dilation_h = dilation,
                                    .dilation_w = dilation,
                                    .pad_top = pad,
                                    .pad_left = pad};
                  check_conv(s, x, stride == 1 ? x : LowType::kF32, channels == 16 ? 0 : 3, isa, 2);
                  if (HasFailure()) return;
                }
}

TEST(LowConv, agrees_with_the_plain_loop_for_groups_and_depthwise) {
  for (Isa isa : isas_here())
    for (LowType x : kTypes)
      for (int64_t groups : {2, 24})
        for (int64_t stride : {1, 2}) {
          const ConvShape s{.batch = 2,
                            .in_h = 6,
                            .in_w = 14,
                            .in_c = 24,
                            .out_c = 24,
                            .kernel_h = 3,
                            .kernel_w = 3,
                            .stride_h = stride,
                            .stride_w = stride,
                            .pad_top = 1,
                            .pad_left = 1,
                            .groups = groups};
          check_conv(s, x, x, stride, isa, 2);
          if (HasFailure()) return;
        }
}

// Blocks of 64 channels and what is left of them, edges on all sides, one output row and column more than pairs.
TEST(LowConv, agrees_with_the_plain_loop_for_depthwise_of_many_channels) {
  for (Isa isa : isas_here())
    for (LowType x : {LowType::kBF16, LowType::kU8, LowType::kS8})
      for (int64_t channels : {16, 80, 136})
        for (int64_t width : {1, 2, 7, 12})
          for (int64_t stride : {1, 2})
            for (int64_t pad : {0, 1}) {
              if (width + 2 * pad < 3) continue;
              const ConvShape s{.batch = 2,
                                .in_h = 7,
                                .in_w = width,
                                .in_c = channels,
                                .out_c = channels,
                                .kernel_h = 3,
                                .kernel_w = 3,
                                .stride_h = stride,
                                .stride_w = stride,
                                .pad_top = 1,
                                .pad_left = pad,
                                .groups = channels};
              check_conv(s, x, x, channels == 80 ? 5 : 0, isa, 2);
              check_conv(s, x, LowType::kF32, 0, isa, 3);
              if (HasFailure()) return;
            }
}

// Pairs of panels have an epilogue of their own, with and without residuals, and short ones a kernel of their own; a
// panel alone has neither.
void compare_pairs_and_single_panels(int64_t depth) {
  constexpr int64_t kM = 33, kN = 80;  // two pairs of panels and one alone
  const Numbers residual(LowType::kU8, kM * kN, 4);
  const Numbers a(LowType::kU8, kM * depth, 1);
  const Weights w = make_weights(LowType::kU8, depth * kN, 2);
  const std::vector<float> bias = random_floats(kN, 3), scale(kN, 1e-3f);
  std::vector<int32_t> offsets(kN);
  low_column_offsets(w.codes.data(), kN, depth, LowType::kU8, 121, offsets.data());
  Buffer packed = Buffer::allocate(static_cast<size_t>(low_packed_bytes(LowType::kU8, depth, kN))).value();
  low_pack_int8(w.codes.data(), depth, true, depth, kN, packed.data());
  for (Isa isa : isas_here())
    for (const bool with_residual : {false, true})
      for (const int32_t zero : {0, 100})
        for (const Act act : {Act::kNone, Act::kRelu}) {
          const auto run = [&](int64_t columns) {
            std::vector<std::byte> y(at(kM * kN), std::byte{9});
            LowGemmParams p{.a = a.bytes.data(),
                            .a_type = LowType::kU8,
                            .a_stride = depth,
                            .b = packed.data(),
                            .m = kM,
                            .n = columns,
                            .k = depth,
                            .c = y.data(),
                            .c_stride = kN,
                            .epilogue = {.scale = scale.data(),
                                         .column_offset = offsets.data(),
                                         .bias = bias.data(),
                                         .act = act,
                                         .y_type = LowType::kU8,
                                         .y_inverse_scale = 20,
                                         .y_zero = zero}};
            if (with_residual) {
              p.epilogue.residual = residual.bytes.data();
              p.epilogue.residual_type = LowType::kU8;
              p.epilogue.residual_stride = kN;
              p.epilogue.residual_scale = 0.02f;
              p.epilogue.residual_zero = 7;
              p.epilogue.sum_scale = 0.03f;
              p.epilogue.sum_inverse_scale = 1 / 0.03f;
              p.epilogue.sum_zero = 90;
            }
            Buffer scratch = Buffer::allocate(static_cast<size_t>(low_gemm_scratch_bytes(p, 1))).value();
            p.scratch = scratch.data();
            testing::run_kernel(isa_kernels(isa).low_gemm, p, 1);
            return y;
          };
          const std::vector<std::byte> all = run(kN);
          for (const int64_t columns : {16, 24, 56})  // a panel alone, and pairs that are cut
          {
            const std::vector<std::byte> some = run(columns);
            for (int64_t i = 0; i < kM; ++i)
              for (int64_t j = 0; j < kN; ++j)
                EXPECT_EQ(some[at(i * kN + j)], j < columns ? all[at(i * kN + j)] : std::byte{9}) << isa_name(isa);
          }
        }
}

TEST(LowGemm, makes_the_same_codes_of_pairs_of_panels_and_of_one_alone) {
  for (int64_t k : {4, 12, 16, 28, 32, 36, 48}) compare_pairs_and_single_panels(k);
}

}  // namespace
}  // namespace nereid::kernels
