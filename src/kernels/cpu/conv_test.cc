// SPDX-License-Identifier: Apache-2.0
// conv against a plain f64 loop, on every instruction set this machine has.
#include "kernels/cpu/conv.h"

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
  ConvAlgorithm algorithm;
  Epilogue e;
  int64_t x_stride, y_stride;
  std::vector<float> x, w, bias, residual;
  Buffer packed;

  explicit Problem(const ConvShape& shape, ConvAlgorithm which = ConvAlgorithm::kGemm, const Epilogue& epilogue = {},
                   int64_t gap = 0)
      : s(shape), algorithm(which), e(epilogue), x_stride(s.in_c + gap), y_stride(s.out_c + gap) {
    const auto floats = [](int64_t n, uint32_t seed) { return random_floats(static_cast<size_t>(n), seed); };
    // Exactly as long as it must be: the last pixel has no gap behind it.
    x = floats(s.batch * s.in_h * s.in_w * x_stride - gap, 1);
    w = floats(s.out_c * s.in_c / s.groups * s.kernel_h * s.kernel_w, 2);
    bias = floats(s.out_c, 3);
    residual = floats(s.batch * s.out_h * s.out_w * y_stride, 4);
    packed = Buffer::allocate(static_cast<size_t>(conv_weight_elements(s, algorithm) * 4)).value();
    conv_pack_weight(s, algorithm, w.data(), reinterpret_cast<float*>(packed.data()));
  }

  std::vector<float> run(Isa isa, int threads, int64_t image = 0, int64_t images = -1) const {
    ConvShape shape = s;
    if (images > 0) shape.batch = images;
    std::vector<float> y = residual;
    Buffer scratch = Buffer::allocate(static_cast<size_t>(conv_scratch_bytes(shape, algorithm, threads) + 64)).value();
    ConvParams p{.shape = shape,
                 .algorithm = algorithm,
                 .x = x.data() + image * s.in_h * s.in_w * x_stride,
                 .x_stride = x_stride,
                 .weight = reinterpret_cast<const float*>(packed.data()),
                 .y = y.data() + image * s.out_h * s.out_w * y_stride,
                 .y_stride = y_stride,
                 .epilogue = e,
                 .scratch = scratch.data()};
    if (e.bias) p.epilogue.bias = bias.data();
    if (e.residual) {
      p.epilogue.residual = p.y;
      p.epilogue.residual_stride = y_stride;
    }
    testing::run_kernel(isa_kernels(isa).conv, p, threads);
    return y;
  }

  std::string name() const {
    return fmt::format("{}x{}x{}x{} -> {}x{}x{}, kernel {}x{} stride {}x{} dilation {}x{} pad {}x{} groups {}", s.batch,
                       s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.kernel_h, s.kernel_w, s.stride_h,
                       s.stride_w, s.dilation_h, s.dilation_w, s.pad_top, s.pad_left, s.groups);
  }

  void check(Isa isa, int threads, double tolerance = 2e-6) const {
    const std::vector<float> y = run(isa, threads);
    const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
    size_t at = 0;
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t oh = 0; oh < s.out_h; ++oh)
        for (int64_t ow = 0; ow < s.out_w; ++ow)
          for (int64_t o = 0; o < y_stride; ++o, ++at) {
            if (o >= s.out_c) {
              ASSERT_EQ(y[at], residual[at]) << "a gap was written: " << name();
              continue;
            }
            double sum = 0, size = 0;
            for (int64_t kh = 0; kh < s.kernel_h; ++kh)
              for (int64_t kw = 0; kw < s.kernel_w; ++kw) {
                const int64_t ih = oh * s.stride_h + kh * s.dilation_h - s.pad_top;
                const int64_t iw = ow * s.stride_w + kw * s.dilation_w - s.pad_left;
                if (ih < 0 || ih >= s.in_h || iw < 0 || iw >= s.in_w) continue;
                for (int64_t c = 0; c < channels; ++c) {
                  const int64_t pixel = (n * s.in_h + ih) * s.in_w + iw;
                  const double product =
                      double{x[static_cast<size_t>(pixel * x_stride + o / outputs * channels + c)]} *
                      double{w[static_cast<size_t>(((o * channels + c) * s.kernel_h + kh) * s.kernel_w + kw)]};
                  sum += product;
                  size += std::fabs(product);
                }
              }
            if (e.bias) sum += double{bias[static_cast<size_t>(o)]};
            if (e.residual && !e.residual_last) sum += double{residual[at]};
            double want = testing::reference_act(e.act, double{e.alpha}, double{e.beta}, sum);
            want = double{e.scale} * want + double{e.shift};
            if (e.residual && e.residual_last) want += double{residual[at]};
            ASSERT_NEAR(y[at], want, tolerance * size + 3e-6) << isa_name(isa) << " " << name() << " at image " << n
                                                              << " row " << oh << " column " << ow << " channel " << o;
          }
  }
};

// The shape with the output that pads on both sides give.
ConvShape shape_of(ConvShape s, int64_t pad_bottom, int64_t pad_right) {
  s.out_h = (s.in_h + s.pad_top + pad_bottom - (s.kernel_h - 1) * s.dilation_h - 1) / s.stride_h + 1;
  s.out_w = (s.in_w + s.pad_left + pad_right - (s.kernel_w - 1) * s.dilation_w - 1) / s.stride_w + 1;
  return s;
}

TEST(Conv, agrees_with_the_plain_loop_for_sizes_strides_pads_and_dilations) {
  for (Isa isa : isas_here())
    for (int64_t width : {7, 12, 29})
      for (int64_t channels : {3, 16, 21})
        for (int64_t kernel : {1, 2, 3, 5})
          for (int64_t stride : {1, 2, 3})
            for (int64_t dilation : {1, 2})
              for (int64_t pad : {0, 1, 2}) {
                if ((kernel - 1) * dilation + 1 > width) continue;
                if (pad > (kernel - 1) * dilation) continue;
                ConvShape s{.batch = 2,
                            .in_h = 9,
                            .in_w = width,
                            .in_c = channels,
                            .out_c = channels == 16 ? 40 : 18,
                            .kernel_h = kernel,
                            .kernel_w = kernel,
                            .stride_h = stride,
                            .stride_w = stride,
                            .dilation_h = dilation,
                            .dilation_w = dilation,
                            .pad_top = pad,
                            .pad_left = pad};
                const Problem problem(shape_of(s, pad, pad / 2), ConvAlgorithm::kGemm, {}, channels == 16 ? 0 : 5);
                problem.check(isa, 2);
                if (HasFatalFailure()) return;
              }
}

TEST(Conv, agrees_with_the_plain_loop_for_one_dimension_and_long_kernels) {
  for (Isa isa : isas_here()) {
    Problem(shape_of({.in_w = 50, .in_c = 8, .out_c = 24, .kernel_w = 31, .pad_left = 15}, 0, 15)).check(isa, 2);
    Problem(shape_of({.in_w = 80, .in_c = 4, .out_c = 24, .kernel_w = 70, .dilation_w = 1}, 0, 0)).check(isa, 2);
    Problem(shape_of({.in_h = 40, .in_c = 20, .out_c = 16, .kernel_h = 3, .pad_top = 1}, 1, 0)).check(isa, 2);
    Problem(shape_of({.in_h = 12,
                      .in_w = 20,
                      .in_c = 512,
                      .out_c = 16,
                      .kernel_h = 3,
                      .kernel_w = 3,
                      .pad_top = 1,
                      .pad_left = 1},
                     1, 1))
        .check(isa, 2);
    Problem(
        shape_of(
            {.in_h = 5, .in_w = 5, .in_c = 512, .out_c = 16, .kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1},
            1, 1))
        .check(isa, 2);
    // Nothing but padding to the right and below.
    Problem(shape_of({.in_h = 3, .in_w = 14, .in_c = 5, .out_c = 7, .kernel_h = 2, .kernel_w = 2}, 6, 9)).check(isa, 2);
  }
}

TEST(Conv, agrees_with_the_plain_loop_for_groups) {
  for (Isa isa : isas_here())
    for (int64_t width : {6, 17})
      for (int64_t groups : {2, 3, 4}) {
        const ConvShape s{.batch = 2,
                          .in_h = 7,
                          .in_w = width,
                          .in_c = groups * 5,
                          .out_c = groups * 20,
                          .kernel_h = 3,
                          .kernel_w = 3,
                          .stride_w = groups == 3 ? 2 : 1,
                          .pad_top = 1,
                          .pad_left = 1,
                          .groups = groups};
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kGemm, {.bias = &kSome, .residual = &kSome}, 3).check(isa, 2);
        ConvShape point = s;
        point.kernel_h = point.kernel_w = point.stride_w = 1;
        point.pad_top = point.pad_left = 0;
        Problem(shape_of(point, 0, 0)).check(isa, 3);
      }
}

TEST(Conv, agrees_with_the_plain_loop_depthwise) {
  for (Isa isa : isas_here())
    for (int64_t width : {1, 5, 14, 31})
      for (int64_t channels : {1, 8, 16, 32, 41})
        for (int64_t kernel : {1, 3, 5})
          for (int64_t stride : {1, 2, 12, 21})
            for (int64_t dilation : {1, 2}) {
              const int64_t pad = (kernel - 1) * dilation / 2;
              const ConvShape s{.batch = 2,
                                .in_h = 6,
                                .in_w = width,
                                .in_c = channels,
                                .out_c = channels,
                                .kernel_h = kernel,
                                .kernel_w = kernel,
                                .stride_h = stride > 10 ? stride / 10 : stride,  // 12: one down, two across
                                .stride_w = stride % 10,
                                .dilation_h = dilation,
                                .dilation_w = dilation,
                                .pad_top = pad,
                                .pad_left = pad,
                                .groups = channels};
              Problem(shape_of(s, pad, pad), ConvAlgorithm::kDepthwise, {}, channels % 4).check(isa, 2);
              if (HasFatalFailure()) return;
            }
}

TEST(Conv, agrees_with_the_plain_loop_by_winograd) {
  for (Isa isa : isas_here())
    for (const ConvAlgorithm algorithm : {ConvAlgorithm::kWinograd2, ConvAlgorithm::kWinograd4})
      for (int64_t size : {3, 4, 7, 14, 29})
        for (int64_t channels : {1, 16, 21})
          for (int64_t pad : {0, 1, 2}) {
            const ConvShape s{.batch = 3,
                              .in_h = size,
                              .in_w = size + 2,
                              .in_c = channels,
                              .out_c = channels + 3,
                              .kernel_h = 3,
                              .kernel_w = 3,
                              .pad_top = pad,
                              .pad_left = pad / 2};
            const Epilogue e{.bias = &kSome, .residual = &kSome, .residual_last = pad == 1, .act = Act::kRelu};
            Problem(shape_of(s, pad / 2, pad), algorithm, e, channels % 3).check(isa, 2, 3e-5);
            if (HasFatalFailure()) return;
          }
}

TEST(Conv, fuses_bias_residual_and_every_activation) {
  for (Isa isa : isas_here())
    for (const testing::ActCase& a : testing::kActCases)
      for (const bool last : {false, true}) {
        const Epilogue e{
            .bias = &kSome, .residual = &kSome, .residual_last = last, .act = a.act, .alpha = a.alpha, .beta = a.beta};
        ConvShape s{
            .in_h = 5, .in_w = 15, .in_c = 20, .out_c = 20, .kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1};
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kGemm, e, 1).check(isa, 2);
        s.groups = 20;
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kDepthwise, e, 1).check(isa, 2);
      }
}

TEST(Conv, scales_and_shifts_behind_the_activation) {
  for (Isa isa : isas_here())
    for (const Act act : {Act::kNone, Act::kRelu, Act::kHardSwish})
      for (const bool last : {false, true}) {
        Epilogue e{
            .bias = &kSome, .residual = &kSome, .residual_last = last, .act = act, .scale = 1.7f, .shift = -0.4f};
        if (act == Act::kHardSwish) e.alpha = 1 / 6.0f, e.beta = 0.5f;
        ConvShape s{
            .in_h = 5, .in_w = 15, .in_c = 20, .out_c = 20, .kernel_h = 3, .kernel_w = 3, .pad_top = 1, .pad_left = 1};
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kGemm, e, 1).check(isa, 2);
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kWinograd4, e, 1).check(isa, 2, 3e-5);
        s.groups = 20;
        Problem(shape_of(s, 1, 1), ConvAlgorithm::kDepthwise, e, 1).check(isa, 2);
      }
}

TEST(Conv, weights_come_back_from_their_packed_form) {
  for (const auto& [groups, algorithm] :
       {std::pair{int64_t{1}, ConvAlgorithm::kGemm}, std::pair{int64_t{3}, ConvAlgorithm::kGemm},
        std::pair{int64_t{21}, ConvAlgorithm::kDepthwise}}) {
    const Problem problem({.in_c = 21, .out_c = 21, .kernel_h = 2, .kernel_w = 3, .groups = groups}, algorithm);
    std::vector<float> raw(problem.w.size(), -1);
    ASSERT_TRUE(conv_can_unpack(algorithm));
    conv_unpack_weight(problem.s, algorithm, reinterpret_cast<const float*>(problem.packed.data()), raw.data());
    EXPECT_EQ(raw, problem.w);
  }
  EXPECT_FALSE(conv_can_unpack(ConvAlgorithm::kWinograd4));
}

TEST(Conv, gives_the_same_bits_on_any_number_of_threads_and_for_any_part_of_the_batch) {
  for (Isa isa : isas_here())
    for (int64_t width : {7, 14, 20})
      for (const ConvAlgorithm algorithm :
           {ConvAlgorithm::kGemm, ConvAlgorithm::kDepthwise, ConvAlgorithm::kWinograd2, ConvAlgorithm::kWinograd4}) {
        ConvShape s{.batch = 3,
                    .in_h = 14,
                    .in_w = width,
                    .in_c = 24,
                    .out_c = 24,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .pad_top = 1,
                    .pad_left = 1};
        if (algorithm == ConvAlgorithm::kDepthwise) s.groups = 24;
        const Problem problem(shape_of(s, 1, 1), algorithm, {.bias = &kSome, .act = Act::kSilu});
        const std::vector<float> all = problem.run(isa, 1);
        for (int threads : {2, 3, 5, 8}) EXPECT_EQ(problem.run(isa, threads), all) << threads;
        const int64_t size = static_cast<int64_t>(all.size()) / 3;
        for (int64_t image = 0; image < 3; ++image) {
          const std::vector<float> one = problem.run(isa, 2, image, 1);
          EXPECT_TRUE(
              std::equal(one.begin() + image * size, one.begin() + (image + 1) * size, all.begin() + image * size));
        }
      }
}

}  // namespace
}  // namespace nereid::kernels
