// SPDX-License-Identifier: Apache-2.0
// Convolution in any number of dimensions as tiled products with a patch matrix: what every op that convolves runs.
//
// For a tile of output positions a row of the patch matrix holds what one tap of one channel sees. Where the taps look
// is worked out once a tile and shared by all channels and groups. T: float, double or int32_t.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/elements.h"
#include "ops/window.h"

namespace nereid::ops {

struct ConvSizes {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of one group
  std::span<const WindowAxis> axes;   // fitted

  int64_t taps() const {
    int64_t n = 1;
    for (const WindowAxis& a : axes) n *= a.kernel;
    return n;
  }
  int64_t in_positions() const {
    int64_t n = 1;
    for (const WindowAxis& a : axes) n *= a.in;
    return n;
  }
  int64_t out_positions() const {
    int64_t n = 1;
    for (const WindowAxis& a : axes) n *= a.out;
    return n;
  }
};

constexpr int64_t kConvTile = 128;   // output positions at a time
constexpr int64_t kConvDepth = 128;  // rows of the patch matrix at a time

// offsets[t][p]: where tap first + t of output position start + p lies in one channel of the input, -1 in the padding.
void conv_offsets(std::span<const WindowAxis> axes, int64_t start, int64_t positions, int64_t first_tap, int64_t taps,
                  int64_t* offsets);

// Four rows of outputs += weights[4][depth] . patches[depth][kConvTile], `width` columns, a multiple of 8.
template <typename T>
void conv_block(const T* weights, const T* patches, int64_t depth, int64_t width, T* sums) {
  for (int64_t p = 0; p < width; p += 8) {
    T acc[4][8] = {};
    for (int64_t r = 0; r < depth; ++r) {
      const T* patch = patches + r * kConvTile + p;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 8; ++j) acc[i][j] += weights[i * kConvDepth + r] * patch[j];
    }
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 8; ++j) sums[i * kConvTile + p + j] = acc[i][j];
  }
}

// y[n, m, ...] = bias[m] + the sum over channels and taps of w[m, c, tap] * x[n, c, position(tap)]. `bias` may be null.
// x [batch, groups * in_channels, in...], w [groups * out_channels, in_channels, kernel...].
template <typename T>
void convolve(const ConvSizes& s, const T* x, const T* w, const T* bias, T* y) {
  const int64_t taps = s.taps(), in = s.in_positions(), out = s.out_positions();
  const int64_t row = s.in_channels * taps;
  Elements<T> patches(kConvDepth * kConvTile), weights(4 * kConvDepth), sums(4 * kConvTile);
  std::vector<int64_t> offsets(static_cast<size_t>(std::min(taps, kConvDepth) * kConvTile));
  for (int64_t m = 0; m < s.batch * s.groups * s.out_channels; ++m)
    std::fill_n(y + m * out, out, bias != nullptr ? bias[m % (s.groups * s.out_channels)] : T(0));

  // One piece of the product: `channels` channels from `channel` on of group g, the taps that `offsets` holds.
  struct Piece {
    int64_t image, group, start, positions, tap, taps, channel, channels;
  };
  const auto multiply = [&](const Piece& k) {
    const int64_t width = (k.positions + 7) / 8 * 8;
    const int64_t depth = k.channels * k.taps;
    const T* source = x + ((k.image * s.groups + k.group) * s.in_channels + k.channel) * in;
    for (int64_t c = 0; c < k.channels; ++c)
      for (int64_t t = 0; t < k.taps; ++t) {
        T* patch = patches.data() + (c * k.taps + t) * kConvTile;
        const int64_t* offset = offsets.data() + t * kConvTile;
        for (int64_t p = 0; p < k.positions; ++p) patch[p] = offset[p] < 0 ? T(0) : source[c * in + offset[p]];
        std::fill(patch + k.positions, patch + width, T(0));
      }
    for (int64_t m = 0; m < s.out_channels; m += 4) {
      const int64_t rows = std::min<int64_t>(4, s.out_channels - m);
      const int64_t first = k.group * s.out_channels + m;
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t r = 0; r < depth; ++r)
          weights[i * kConvDepth + r] =
              i < rows ? w[(first + i) * row + (k.channel + r / k.taps) * taps + k.tap + r % k.taps] : T(0);
      conv_block(weights.data(), patches.data(), depth, width, sums.data());
      for (int64_t i = 0; i < rows; ++i) {
        T* dst = y + (k.image * s.groups * s.out_channels + first + i) * out + k.start;
        for (int64_t p = 0; p < k.positions; ++p) dst[p] += sums[i * kConvTile + p];
      }
    }
  };

  for (int64_t start = 0; start < out; start += kConvTile) {
    const int64_t positions = std::min(kConvTile, out - start);
    for (int64_t tap = 0; tap < taps; tap += kConvDepth) {
      const int64_t some = std::min(kConvDepth, taps - tap);
      const int64_t channels = std::max<int64_t>(1, kConvDepth / some);
      conv_offsets(s.axes, start, positions, tap, some, offsets.data());
      for (int64_t image = 0; image < s.batch; ++image)
        for (int64_t g = 0; g < s.groups; ++g)
          for (int64_t c = 0; c < s.in_channels; c += channels)
            multiply({image, g, start, positions, tap, some, c, std::min(channels, s.in_channels - c)});
    }
  }
}

}  // namespace nereid::ops
