// SPDX-License-Identifier: Apache-2.0
// The micro-kernel of products and convolutions in f32: MR rows by NV panels of 16 columns, all sums in registers.
//
// The sum runs over segments: each has its own first row of a (a convolution's taps), rows a_stride apart, and `k`
// numbers; b runs on through all of them. A null segment is rows of zeros. Sums start from the bias and go straight to
// their place with residual and clamp; other activations take them from a small buffer (finish_tile).
#pragma once

#include <cstdint>
#include <utility>

#include "kernels/cpu/epilogue.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/isa/activation.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

// Everything a tile needs; a, b, c, bias, residual and last_columns change from tile to tile.
struct Tile {
  const float* const* a = nullptr;  // [segments]
  int64_t a_stride = 0;
  int64_t segments = 1, k = 0;
  const float* b = nullptr;  // the first panel
  int64_t b_stride = kPanelColumns, panel_stride = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  const float* bias = nullptr;
  const float* residual = nullptr;
  int64_t residual_stride = 0;
  float low = 0, high = 0;
  int last_columns = 16;  // of the last panel
};

// One number more of k for all sums. Rows are addressed from two bases, their distances in bytes, so that five address
// registers do for all of them.
template <int MR, int NV>
[[gnu::always_inline]] inline void multiply_add(const float* a, const float* a9, const int64_t (&s)[4], const float* b,
                                                int64_t panel_stride, simd::F32 (&sum)[MR][NV]) {
  using namespace simd;
  F32 column[NV];
  unrolled<NV>([&]<int j>() __attribute__((always_inline)) { column[j] = load(b + j * panel_stride); });
  unrolled<MR>([&]<int m>() __attribute__((always_inline)) {
    constexpr int r = m < 9 ? m : m - 9;
    const int64_t offset = r == 3 ? s[1] : r == 5 ? s[2] : r == 6 ? 2 * s[1] : r == 7 ? s[3] : r * s[0];
    const F32 x = set1(*reinterpret_cast<const float*>(reinterpret_cast<const char*>(m < 9 ? a : a9) + offset));
    unrolled<NV>([&]<int j>() __attribute__((always_inline)) { sum[m][j] = simd::fma(column[j], x, sum[m][j]); });
  });
}

template <int MR, int NV>
[[gnu::always_inline]] inline void sum_tile(const Tile& t, simd::F32 (&sum)[MR][NV]) {
  using namespace simd;
  F32 acc[MR][NV], start[NV];
  const int n = t.last_columns;
  unrolled<NV>([&]<int j>() {
    if (!t.bias)
      start[j] = zero();
    else
      start[j] = j + 1 < NV || n == 16 ? load(t.bias + 16 * j) : load_partial(t.bias + 16 * j, n);
  });
  unrolled<MR>([&]<int m>() { unrolled<NV>([&]<int j>() { acc[m][j] = start[j]; }); });
  int64_t s[4] = {4 * t.a_stride, 12 * t.a_stride, 20 * t.a_stride, 28 * t.a_stride};
  // Hidden from the compiler, which would otherwise compute and spill every row's address by itself.
  asm("" : "+r"(s[0]));
  asm("" : "+r"(s[1]));
  asm("" : "+r"(s[2]));
  asm("" : "+r"(s[3]));
  const int64_t b_stride = t.b_stride;
  const int64_t panel_stride = t.panel_stride;
  const float* b = t.b;
  for (int64_t i = 0; i < t.segments; ++i) {
    const float* a = t.a[i];
    if (a == nullptr) {
      b += t.k * b_stride;
      continue;
    }
    const float* a9 = a + 9 * t.a_stride;
    for (int64_t k = t.k; k > 0; --k, ++a, ++a9, b += b_stride) multiply_add<MR, NV>(a, a9, s, b, panel_stride, acc);
  }
  unrolled<MR>([&]<int m>() { unrolled<NV>([&]<int j>() { sum[m][j] = acc[m][j]; }); });
}

template <int MR, int NV>
[[gnu::noinline]] void run_tile(const Tile& t) {
  using namespace simd;
  F32 sum[MR][NV];
  sum_tile<MR, NV>(t, sum);
  const F32 low = set1(t.low), high = set1(t.high);
  const int n = t.last_columns;
  unrolled<MR>([&]<int m>() __attribute__((always_inline)) {
    unrolled<NV>([&]<int j>() __attribute__((always_inline)) {
      F32 v = sum[m][j];
      float* c = t.c + m * t.c_stride + 16 * j;
      const float* r = t.residual + m * t.residual_stride + 16 * j;
      if (j + 1 < NV || n == 16) [[likely]] {
        if (t.residual) v = simd::add(v, load(r));
        store(c, simd::min(high, simd::max(low, v)));
      } else {
        if (t.residual) v = simd::add(v, load_partial(r, n));
        store_partial(c, simd::min(high, simd::max(low, v)), n);
      }
    });
  });
}

using TileFunction = void (*)(const Tile&);

// Rows that the registers hold beside NV panels.
template <int NV>
inline constexpr int kTileRowsOf = NV == 1   ? simd::kGemmRows1
                                   : NV == 2 ? simd::kGemmRows2
                                             : simd::kGemmRows4;
inline constexpr int kMostTileRows = simd::kGemmRows1 > simd::kGemmRows2 ? simd::kGemmRows1 : simd::kGemmRows2;

// Tile functions by panels and rows: function(rows).
template <int NV>
struct TileFunctions {
  TileFunction of[kTileRowsOf<NV> + 1] = {};
  constexpr TileFunctions() {
    [this]<int... I>(std::integer_sequence<int, I...>) {
      ((of[I + 1] = run_tile<I + 1, NV>), ...);
    }
    (std::make_integer_sequence<int, kTileRowsOf<NV>>{});
  }
};

inline TileFunction tile_function(int panels, int rows) {
  static constexpr TileFunctions<1> kOne;
  static constexpr TileFunctions<2> kTwo;
  static constexpr TileFunctions<4> kFour;
  return panels == 1 ? kOne.of[rows] : panels == 2 ? kTwo.of[rows] : kFour.of[rows];
}

}  // namespace nereid::kernels::NEREID_ISA
