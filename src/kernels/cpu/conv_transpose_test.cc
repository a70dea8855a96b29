// SPDX-License-Identifier: Apache-2.0
// conv_transpose against a plain f64 loop over its inputs, on every instruction set this machine has.
#include "kernels/cpu/conv_transpose.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_epilogue.h"
#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::kSome;
using testing::random_floats;

struct Problem {
  ConvShape s;
  Epilogue e;
  int64_t x_stride;
  std::vector<float> x, w, bias, residual;
  Buffer packed;

  explicit Problem(const ConvShape& shape, const Epilogue& epilogue = {}, int64_t gap = 0)
      : s(shape), e(epilogue), x_stride(s.in_c + gap) {
    const auto floats = [](int64_t n, uint32_t seed) { return random_floats(static_cast<size_t>(n), seed); };
    // Exactly as long as it must be: the last pixel has no gap behind it.
    x = floats(s.batch * s.in_h * s.in_w * x_stride - gap, 1);
    w = floats(s.in_c * s.out_c / s.groups * s.kernel_h * s.kernel_w, 2);
    bias = floats(s.out_c, 3);
    residual = floats(s.batch * s.out_h * s.out_w * s.out_c, 4);
    packed = Buffer::allocate(static_cast<size_t>(conv_transpose_weight_elements(s) * 4)).value();
    conv_transpose_pack_weight(s, w.data(), reinterpret_cast<float*>(packed.data()));
  }

  std::vector<float> run(Isa isa, int threads) const {
    std::vector<float> y(residual.size(), -7);
    Buffer scratch = Buffer::allocate(static_cast<size_t>(conv_transpose_scratch_bytes(s, threads) + 64)).value();
    ConvTransposeParams p{.shape = s,
                          .x = x.data(),
                          .x_stride = x_stride,
                          .weight = reinterpret_cast<const float*>(packed.data()),
                          .y = y.data(),
                          .epilogue = e,
                          .scratch = scratch.data()};
    if (e.bias) p.epilogue.bias = bias.data();
    if (e.residual) {
      p.epilogue.residual = residual.data();
      p.epilogue.residual_stride = s.out_c;
    }
    testing::run_kernel(isa_kernels(isa).conv_transpose, p, threads);
    return y;
  }

  std::string name() const {
    return fmt::format("{}x{}x{}x{} -> {}x{}x{}, kernel {}x{} stride {}x{} dilation {}x{} cut {}x{} groups {}", s.batch,
                       s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.kernel_h, s.kernel_w, s.stride_h,
                       s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, s.groups);
  }

  // Every input adds its weighted kernel to the outputs that it reaches.
  void check(Isa isa, int threads) const {
    const std::vector<float> y = run(isa, threads);
    std::vector<double> sums(y.size(), 0), sizes(y.size(), 0);
    const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t ih = 0; ih < s.in_h; ++ih)
        for (int64_t iw = 0; iw < s.in_w; ++iw)
          for (int64_t kh = 0; kh < s.kernel_h; ++kh)
            for (int64_t kw = 0; kw < s.kernel_w; ++kw) {
              const int64_t oh = ih * s.stride_h + kh * s.dilation_h - s.pad_top;
              const int64_t ow = iw * s.stride_w + kw * s.dilation_w - s.pad_left;
              if (oh < 0 || oh >= s.out_h || ow < 0 || ow >= s.out_w) continue;
              for (int64_t c = 0; c < s.in_c; ++c)
                for (int64_t o = 0; o < outputs; ++o) {
                  const auto at =
                      static_cast<size_t>(((n * s.out_h + oh) * s.out_w + ow) * s.out_c + c / channels * outputs + o);
                  const double product =
                      double{x[static_cast<size_t>(((n * s.in_h + ih) * s.in_w + iw) * x_stride + c)]} *
                      double{w[static_cast<size_t>(((c * outputs + o) * s.kernel_h + kh) * s.kernel_w + kw)]};
                  sums[at] += product;
                  sizes[at] += std::fabs(product);
                }
            }
    for (size_t i = 0; i < y.size(); ++i) {
      double sum = sums[i];
      if (e.bias) sum += double{bias[i % static_cast<size_t>(s.out_c)]};
      if (e.residual && !e.residual_last) sum += double{residual[i]};
      double want = testing::reference_act(e.act, double{e.alpha}, double{e.beta}, sum);
      want = double{e.scale} * want + double{e.shift};
      if (e.residual && e.residual_last) want += double{residual[i]};
      ASSERT_NEAR(y[i], want, 2e-6 * sizes[i] + 3e-6) << isa_name(isa) << " " << name() << " at " << i;
    }
  }
};

// The shape with the output that cuts at both ends and more rows and columns give.
ConvShape shape_of(ConvShape s, int64_t cut_end, int64_t more) {
  s.out_h = (s.in_h - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1 - s.pad_top - cut_end + more;
  s.out_w = (s.in_w - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w + 1 - s.pad_left - cut_end + more;
  return s;
}

TEST(ConvTranspose, agrees_with_the_plain_loop_for_kernels_strides_cuts_and_dilations) {
  for (Isa isa : isas_here())
    for (int64_t channels : {3, 16})
      for (int64_t kernel : {1, 2, 3, 4, 5})
        for (int64_t stride : {1, 2, 3})
          for (int64_t dilation : {1, 2})
            for (int64_t cut : {0, 1, 2})
              for (int64_t more : {0, 1}) {
                ConvShape s{.batch = 2,
                            .in_h = 5,
                            .in_w = 7,
                            .in_c = channels,
                            .out_c = channels == 16 ? 40 : 5,
                            .kernel_h = kernel,
                            .kernel_w = kernel,
                            .stride_h = stride,
                            .stride_w = stride,
                            .dilation_h = dilation,
                            .dilation_w = dilation,
                            .pad_top = cut,
                            .pad_left = cut};
                s = shape_of(s, cut / 2, more);
                if (s.out_h < 1 || s.out_w < 1) continue;
                Problem(s, {.bias = &kSome}, channels == 16 ? 0 : 5).check(isa, 2);
                if (HasFatalFailure()) return;
              }
}

TEST(ConvTranspose, agrees_with_the_plain_loop_for_one_dimension_and_unlike_axes) {
  for (Isa isa : isas_here()) {
    Problem(shape_of({.in_w = 50, .in_c = 24, .out_c = 12, .kernel_w = 16, .stride_w = 8, .pad_left = 4}, 0, 0))
        .check(isa, 2);
    Problem(shape_of({.in_h = 6, .in_w = 9, .in_c = 8, .out_c = 3, .kernel_h = 3, .kernel_w = 2, .stride_w = 2}, 0, 0))
        .check(isa, 3);
    Problem(shape_of({.in_h = 6,
                      .in_w = 9,
                      .in_c = 512,
                      .out_c = 16,
                      .kernel_h = 2,
                      .kernel_w = 4,
                      .stride_h = 2,
                      .stride_w = 2,
                      .pad_left = 1},
                     0, 0))
        .check(isa, 2);
  }
}

TEST(ConvTranspose, agrees_with_the_plain_loop_for_groups) {
  for (Isa isa : isas_here())
    for (int64_t groups : {2, 6})
      for (int64_t kernel : {2, 4})
        Problem(shape_of({.batch = 2,
                          .in_h = 4,
                          .in_w = 11,
                          .in_c = 12,
                          .out_c = 6 * groups,
                          .kernel_h = kernel,
                          .kernel_w = kernel,
                          .stride_h = 2,
                          .stride_w = 2,
                          .groups = groups},
                         0, 0),
                {.bias = &kSome})
            .check(isa, 2);
}

TEST(ConvTranspose, fuses_bias_residual_and_every_activation) {
  for (Isa isa : isas_here())
    for (const testing::ActCase& a : testing::kActCases)
      for (const bool last : {false, true})
        for (int64_t outputs : {1, 20})
          for (int64_t kernel : {2, 3}) {
            Epilogue e{.bias = &kSome,
                       .residual_last = last,
                       .act = a.act,
                       .alpha = a.alpha,
                       .beta = a.beta,
                       .scale = last ? 0.7f : 1.0f,
                       .shift = last ? -0.3f : 0.0f};
            if (outputs == 20) e.residual = &kSome;
            const ConvShape s{.in_h = 5,
                              .in_w = 9,
                              .in_c = 20,
                              .out_c = outputs,
                              .kernel_h = kernel,
                              .kernel_w = kernel,
                              .stride_h = 2,
                              .stride_w = 2};
            Problem(shape_of(s, 0, 0), e).check(isa, 2);
          }
}

TEST(ConvTranspose, gives_the_same_bits_on_any_number_of_threads) {
  for (Isa isa : isas_here())
    for (int64_t kernel : {2, 4}) {
      const ConvShape s{.batch = 3,
                        .in_h = 7,
                        .in_w = 10,
                        .in_c = 24,
                        .out_c = 70,
                        .kernel_h = kernel,
                        .kernel_w = kernel,
                        .stride_h = 2,
                        .stride_w = 2,
                        .pad_top = kernel / 4,
                        .pad_left = kernel / 4};
      const Problem problem(shape_of(s, kernel / 4, 0), {.bias = &kSome, .act = Act::kSilu});
      const std::vector<float> all = problem.run(isa, 1);
      for (int threads : {2, 3, 5, 8, 40}) EXPECT_EQ(problem.run(isa, threads), all) << threads;
    }
}

}  // namespace
}  // namespace nereid::kernels
