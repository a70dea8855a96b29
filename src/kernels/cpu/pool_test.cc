// SPDX-License-Identifier: Apache-2.0
// Pooling, resizing and transposes against plain loops, on every instruction set this machine has.
#include "kernels/cpu/pool.h"

#include <gtest/gtest.h>

#include "kernels/cpu/test_kernels.h"

namespace nereid::kernels {
namespace {

using testing::isas_here;
using testing::random_floats;

size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

void check_pool(PoolParams p, int64_t gap) {
  p.out_h = (p.in_h + p.pad_top + p.pad_bottom - (p.kernel_h - 1) * p.dilation_h - 1) / p.stride_h + 1;
  p.out_w = (p.in_w + p.pad_left + p.pad_right - (p.kernel_w - 1) * p.dilation_w - 1) / p.stride_w + 1;
  p.x_stride = p.c + gap;
  p.y_stride = p.c + 2 * gap;
  const std::vector<float> x = random_floats(at(p.batch * p.in_h * p.in_w * p.x_stride - gap), 1);
  p.x = x.data();
  for (Isa isa : isas_here())
    for (const auto kind : {PoolParams::Kind::kMax, PoolParams::Kind::kAverage, PoolParams::Kind::kAverageWithPad}) {
      p.kind = kind;
      std::vector<float> y(at(p.batch * p.out_h * p.out_w * p.y_stride), -7.0f);
      p.y = y.data();
      testing::run_kernel(isa_kernels(isa).pool, p, 3);
      for (int64_t n = 0; n < p.batch; ++n)
        for (int64_t oh = 0; oh < p.out_h; ++oh)
          for (int64_t ow = 0; ow < p.out_w; ++ow)
            for (int64_t c = 0; c < p.y_stride; ++c) {
              const float got = y[at(((n * p.out_h + oh) * p.out_w + ow) * p.y_stride + c)];
              if (c >= p.c) {
                ASSERT_EQ(got, -7.0f);
                continue;
              }
              double best = -1e30, sum = 0;
              int inside = 0, padded = 0;
              for (int64_t kh = 0; kh < p.kernel_h; ++kh)
                for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
                  const int64_t h = oh * p.stride_h - p.pad_top + kh * p.dilation_h;
                  const int64_t w = ow * p.stride_w - p.pad_left + kw * p.dilation_w;
                  if (h < p.in_h + p.pad_bottom && w < p.in_w + p.pad_right) ++padded;
                  if (h < 0 || w < 0 || h >= p.in_h || w >= p.in_w) continue;
                  const double v = double{x[at(((n * p.in_h + h) * p.in_w + w) * p.x_stride + c)]};
                  best = std::max(best, v);
                  sum += v;
                  ++inside;
                }
              const double want = kind == PoolParams::Kind::kMax       ? best
                                  : kind == PoolParams::Kind::kAverage ? sum / inside
                                                                       : sum / padded;
              ASSERT_NEAR(got, want, 1e-5)
                  << isa_name(isa) << " kind " << static_cast<int>(kind) << " " << oh << "," << ow << " channel " << c;
            }
    }
}

TEST(Pool, agrees_with_the_plain_loop) {
  for (int64_t channels : {1, 16, 70, 131})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t stride : {1, 2})
        for (int64_t pad = 0; pad < kernel; ++pad) {
          check_pool({.batch = 2,
                      .in_h = 7,
                      .in_w = 9,
                      .c = channels,
                      .kernel_h = kernel,
                      .kernel_w = kernel,
                      .stride_h = stride,
                      .stride_w = stride,
                      .dilation_w = kernel == 2 ? 2 : 1,
                      .pad_top = pad,
                      .pad_left = pad / 2,
                      .pad_bottom = pad / 2,
                      .pad_right = pad},
                     channels % 3);
          if (HasFatalFailure()) return;
        }
}

TEST(Pool, takes_the_whole_image) {
  for (Isa isa : isas_here())
    for (int64_t c : {1, 17, 64, 200}) {
      const int64_t pixels = 49;
      const std::vector<float> x = random_floats(at(2 * pixels * c), 3);
      for (const bool is_max : {false, true}) {
        std::vector<float> y(at(2 * c));
        testing::run_kernel(isa_kernels(isa).global_pool,
                            GlobalPoolParams{.is_max = is_max,
                                             .batch = 2,
                                             .pixels = pixels,
                                             .c = c,
                                             .x = x.data(),
                                             .x_stride = c,
                                             .y = y.data(),
                                             .y_stride = c},
                            3);
        for (int64_t i = 0; i < 2 * c; ++i) {
          double sum = 0, best = -1e30;
          for (int64_t k = 0; k < pixels; ++k) {
            const double v = double{x[at((i / c * pixels + k) * c + i % c)]};
            sum += v;
            best = std::max(best, v);
          }
          ASSERT_NEAR(y[at(i)], is_max ? best : sum / pixels, 1e-5);
        }
      }
    }
}

TEST(Resize, follows_its_tables) {
  const int64_t h = 3, w = 4, c = 21, out_h = 6, out_w = 8;
  std::vector<int32_t> y0, y1, x0, x1;
  std::vector<float> wy, wx;
  for (int64_t i = 0; i < out_h; ++i) {
    const double v = std::clamp((static_cast<double>(i) + 0.5) / 2 - 0.5, 0.0, static_cast<double>(h - 1));
    y0.push_back(static_cast<int32_t>(v));
    y1.push_back(std::min<int32_t>(static_cast<int32_t>(v) + 1, h - 1));
    wy.push_back(static_cast<float>(v - std::floor(v)));
  }
  for (int64_t i = 0; i < out_w; ++i) {
    const double v = std::clamp((static_cast<double>(i) + 0.5) / 2 - 0.5, 0.0, static_cast<double>(w - 1));
    x0.push_back(static_cast<int32_t>(v));
    x1.push_back(std::min<int32_t>(static_cast<int32_t>(v) + 1, w - 1));
    wx.push_back(static_cast<float>(v - std::floor(v)));
  }
  const std::vector<float> x = random_floats(at(2 * h * w * c), 5);
  const auto pixel = [&](int64_t n, int64_t i, int64_t j, int64_t k) {
    return double{x[at(((n * h + i) * w + j) * c + k)]};
  };
  for (Isa isa : isas_here())
    for (const bool linear : {false, true}) {
      std::vector<float> y(at(2 * out_h * out_w * c));
      ResizeParams p{.batch = 2,
                     .in_h = h,
                     .in_w = w,
                     .c = c,
                     .out_h = out_h,
                     .out_w = out_w,
                     .y0 = y0.data(),
                     .x0 = x0.data(),
                     .x = x.data(),
                     .x_stride = c,
                     .y = y.data(),
                     .y_stride = c};
      if (linear) {
        p.y1 = y1.data();
        p.x1 = x1.data();
        p.y_weight = wy.data();
        p.x_weight = wx.data();
      }
      testing::run_kernel(isa_kernels(isa).resize, p, 3);
      size_t to = 0;
      for (int64_t n = 0; n < 2; ++n)
        for (size_t i = 0; i < at(out_h); ++i)
          for (size_t j = 0; j < at(out_w); ++j)
            for (int64_t k = 0; k < c; ++k, ++to) {
              const double a = double{wx[j]}, b = double{wy[i]};
              const double want =
                  linear ? (1 - b) * ((1 - a) * pixel(n, y0[i], x0[j], k) + a * pixel(n, y0[i], x1[j], k)) +
                               b * ((1 - a) * pixel(n, y1[i], x0[j], k) + a * pixel(n, y1[i], x1[j], k))
                         : pixel(n, y0[i], x0[j], k);
              ASSERT_NEAR(y[to], want, 1e-6);
            }
    }
}

TEST(Transpose, moves_every_element_and_no_other) {
  for (Isa isa : isas_here())
    for (int64_t rows : {1, 3, 15, 16, 17, 64, 70})
      for (int64_t cols : {1, 3, 16, 31, 64, 130})
        for (int64_t gap : {0, 2}) {
          const std::vector<float> x = random_floats(at(2 * rows * (cols + gap) - gap), 1);
          std::vector<float> y(at(2 * cols * (rows + gap)), 9.0f);
          testing::run_kernel(isa_kernels(isa).transpose,
                              TransposeParams{.batch = 2,
                                              .rows = rows,
                                              .cols = cols,
                                              .x = x.data(),
                                              .x_stride = cols + gap,
                                              .x_batch_stride = rows * (cols + gap),
                                              .y = y.data(),
                                              .y_stride = rows + gap,
                                              .y_batch_stride = cols * (rows + gap)},
                              3);
          for (int64_t b = 0; b < 2; ++b)
            for (int64_t j = 0; j < cols; ++j)
              for (int64_t i = 0; i < rows + gap; ++i) {
                const float want = i < rows ? x[at((b * rows + i) * (cols + gap) + j)] : 9.0f;
                ASSERT_EQ(y[at((b * cols + j) * (rows + gap) + i)], want) << rows << " x " << cols;
              }
        }
}

}  // namespace
}  // namespace nereid::kernels
