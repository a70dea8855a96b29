// SPDX-License-Identifier: Apache-2.0
// Rows of a convolution's left matrix in memory: padded bands of an image, or the windows of single pixels.
#pragma once

#include "kernels/cpu/conv.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

inline void copy_floats(const float* src, int64_t n, float* dst) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) simd::store(dst + i, simd::load(src + i));
  for (; i < n; ++i) dst[i] = src[i];
}
inline void zero_floats(int64_t n, float* dst) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) simd::store(dst + i, simd::zero());
  for (; i < n; ++i) dst[i] = 0;
}

// Image rows [row, row + rows) (beyond the image: zeros), pixels [column, column + columns) likewise, `channels`
// numbers a pixel, to dst with pixels dst_stride apart.
inline void copy_band(const float* image, int64_t x_stride, const ConvShape& s, int64_t channels, int64_t row,
                      int64_t rows, int64_t column, int64_t columns, float* dst, int64_t dst_stride) {
  const int64_t left = column < 0 ? (-column < columns ? -column : columns) : 0;
  const int64_t inside_end = s.in_w - column < columns ? s.in_w - column : columns;
  for (int64_t i = row; i < row + rows; ++i, dst += columns * dst_stride) {
    if (i < 0 || i >= s.in_h || inside_end <= left) {
      zero_floats(columns * dst_stride, dst);
      continue;
    }
    zero_floats(left * dst_stride, dst);
    const float* src = image + (i * s.in_w + column + left) * x_stride;
    if (x_stride == channels && dst_stride == channels)
      copy_floats(src, (inside_end - left) * channels, dst + left * dst_stride);
    else
      for (int64_t j = left; j < inside_end; ++j, src += x_stride) copy_floats(src, channels, dst + j * dst_stride);
    zero_floats((columns - inside_end) * dst_stride, dst + inside_end * dst_stride);
  }
}

// The window of one output pixel in the order (kh, kw, c), zeros where it leaves the image.
inline void copy_window(const float* image, int64_t x_stride, const ConvShape& s, int64_t channels, int64_t oh,
                        int64_t ow, float* dst) {
  const int64_t column = ow * s.stride_w - s.pad_left;
  const bool merged = s.dilation_w == 1 && x_stride == channels;
  const int64_t first = column < 0 ? (-column < s.kernel_w ? -column : s.kernel_w) : 0;
  const int64_t inside = s.in_w - column;
  const int64_t last = inside < first ? first : inside < s.kernel_w ? inside : s.kernel_w;
  for (int64_t kh = 0; kh < s.kernel_h; ++kh, dst += s.kernel_w * channels) {
    const int64_t row = oh * s.stride_h - s.pad_top + kh * s.dilation_h;
    if (row < 0 || row >= s.in_h) {
      zero_floats(s.kernel_w * channels, dst);
      continue;
    }
    const float* src = image + (row * s.in_w + column) * x_stride;
    if (merged) {
      zero_floats(first * channels, dst);
      copy_floats(src + first * channels, (last - first) * channels, dst + first * channels);
      zero_floats((s.kernel_w - last) * channels, dst + last * channels);
      continue;
    }
    for (int64_t kw = 0; kw < s.kernel_w; ++kw) {
      const int64_t at = column + kw * s.dilation_w;
      if (at < 0 || at >= s.in_w)
        zero_floats(channels, dst + kw * channels);
      else
        copy_floats(src + kw * s.dilation_w * x_stride, channels, dst + kw * channels);
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
