// SPDX-License-Identifier: Apache-2.0
// Where the taps of a tile of outputs look.
#include "ops/conv_loop.h"

namespace nereid::ops {

void conv_offsets(std::span<const WindowAxis> axes, int64_t start, int64_t positions, int64_t first_tap, int64_t taps,
                  int64_t* offsets) {
  for (int64_t t = 0; t < taps; ++t) std::fill_n(offsets + t * kConvTile, positions, int64_t{0});
  int64_t in_stride = 1, out_stride = 1, tap_stride = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    const WindowAxis& a = axes[d];
    for (int64_t t = 0; t < taps; ++t) {
      const int64_t shift = (first_tap + t) / tap_stride % a.kernel * a.dilation - a.begin;
      int64_t o = start / out_stride % a.out;
      int64_t left = out_stride - start % out_stride;  // positions until o moves on
      int64_t* row = offsets + t * kConvTile;
      for (int64_t p = 0; p < positions; ++p) {
        const int64_t i = o * a.stride + shift;
        row[p] = row[p] < 0 || i < 0 || i >= a.in ? -1 : row[p] + i * in_stride;
        if (--left == 0) {
          left = out_stride;
          o = o + 1 == a.out ? 0 : o + 1;
        }
      }
    }
    in_stride *= a.in;
    out_stride *= a.out;
    tap_stride *= a.kernel;
  }
}

}  // namespace nereid::ops
