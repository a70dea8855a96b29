// SPDX-License-Identifier: Apache-2.0
// The micro-kernel of low precision: as gemm_tile.h, but a step is 2 or 4 neighbours of k in 4 bytes of a row, and 64
// bytes of a panel. Sums go to a small buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/cpu/isa/low_copy.h"
#include "kernels/cpu/isa/low_parts.h"
#include "kernels/cpu/low_precision.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

struct LowTile {
  const std::byte* const* a = nullptr;  // [segments]
  int64_t a_stride = 0;                 // bytes, here and below
  int64_t segments = 1, steps = 0;
  const std::byte* b = nullptr;
  int64_t panel_stride = 0;
  std::byte* sums = nullptr;       // [rows][16 panels] of 4 bytes
  const int32_t* begin = nullptr;  // int8: what the sums of each column begin with, [16 panels]; null: 0
  int64_t ahead = 0;               // from b to what is read next, to be fetched into L2 on the way
};

// Whether a pair of panels fits the registers beside the sums of two rows, for any number of rows one after the other:
// then sums become codes without being stored. A 1x1 convolution of 16 channels spends a fifth of its time multiplying.
constexpr bool is_short(const LowTile& t) {
  return simd::kQuadRows2 >= 8 && ((t.segments == 1 && t.steps <= 8) || (t.segments == 3 && t.steps == 3));
}

struct Bf16Dot {
  using Sum = simd::F32;
  static Sum first(const int32_t*) { return simd::zero(); }
  static simd::PairBlock load(const std::byte* p) { return simd::load_pairs(p); }
  static simd::Pair spread(const char* p) { return simd::spread_pair(p); }
  static Sum dot(Sum sum, simd::Pair a, simd::PairBlock b) { return simd::dot_pairs(sum, a, b); }
  static void store(std::byte* p, Sum s) { simd::store(reinterpret_cast<float*>(p), s); }
};
struct Int8Dot {
  using Sum = simd::I32;
  static Sum first(const int32_t* begin) { return begin ? simd::load_i32(begin) : simd::izero(); }
  static simd::QuadBlock load(const std::byte* p) { return simd::load_quads(p); }
  static simd::Quad spread(const char* p) { return simd::spread_quad(p); }
  static Sum dot(Sum sum, simd::Quad a, simd::QuadBlock b) { return simd::dot_quads(sum, a, b); }
  static void store(std::byte* p, Sum s) { simd::store_i32(reinterpret_cast<int32_t*>(p), s); }
};

template <typename E, int MR, int NV>
[[gnu::noinline, gnu::flatten]] void run_low_tile(const LowTile& t) {
  typename E::Sum sum[MR][NV];
  unrolled<NV>([&]<int j>() __attribute__((always_inline)) {
    const typename E::Sum first = E::first(t.begin ? t.begin + 16 * j : nullptr);
    unrolled<MR>([&]<int m>() __attribute__((always_inline)) { sum[m][j] = first; });
  });
  int64_t s[4] = {t.a_stride, 3 * t.a_stride, 5 * t.a_stride, 7 * t.a_stride};
  asm("" : "+r"(s[0]));  // see gemm_tile.h
  asm("" : "+r"(s[1]));
  asm("" : "+r"(s[2]));
  asm("" : "+r"(s[3]));
  const int64_t panel_stride = t.panel_stride, ahead = t.ahead;
  const std::byte* b = t.b;
  for (int64_t i = 0; i < t.segments; ++i) {
    const char* a = reinterpret_cast<const char*>(t.a[i]);
    const char* a9 = a + 9 * t.a_stride;
    for (int64_t k = t.steps; k > 0; --k, a += 4, a9 += 4, b += 64) {
      __builtin_prefetch(b + ahead, 0, 2);
      decltype(E::load(b)) column[NV];
      unrolled<NV>([&]<int j>() __attribute__((always_inline)) { column[j] = E::load(b + j * panel_stride); });
      unrolled<MR>([&]<int m>() __attribute__((always_inline)) {
        constexpr int r = m < 9 ? m : m - 9;
        const int64_t offset = r == 3 ? s[1] : r == 5 ? s[2] : r == 6 ? 2 * s[1] : r == 7 ? s[3] : r * s[0];
        const auto x = E::spread((m < 9 ? a : a9) + offset);
        unrolled<NV>([&]<int j>() __attribute__((always_inline)) { sum[m][j] = E::dot(sum[m][j], x, column[j]); });
      });
    }
  }
  unrolled<MR>([&]<int m>() { unrolled<NV>([&]<int j>() { E::store(t.sums + (m * NV + j) * 64, sum[m][j]); }); });
}

using LowTileFunction = void (*)(const LowTile&);

template <typename E, int NV, int kRows>
struct LowTileFunctions {
  LowTileFunction of[kRows + 1] = {};
  constexpr LowTileFunctions() {
    [this]<int... I>(std::integer_sequence<int, I...>) {
      ((of[I + 1] = run_low_tile<E, I + 1, NV>), ...);
    }
    (std::make_integer_sequence<int, kRows>{});
  }
};

// How the driver calls a kernel: its largest tiles, and one tile. A kernel may want to be set up on each thread.
template <typename E, int kRows1, int kRows2>
struct VectorKernel {
  static constexpr bool kBegins = true;     // sums may begin with LowTile::begin
  static constexpr bool kOverlaps = false;  // no run_rows: a tile is finished before the next one begins
  // So few rows take four panels at once, lest they wait for their own sums.
  static constexpr int kFewRows = kRows2 >= 8 ? 4 : 1;
  static constexpr int rows_for(int panels) { return panels == 1 ? kRows1 : panels == 2 ? kRows2 : kFewRows; }
  static constexpr int kMostRows = kRows1 > kRows2 ? kRows1 : kRows2;
  static void widen(LowType from, const std::byte* src, int64_t pixels, std::byte* dst) {
    widen_colours(from, src, pixels, dst);
  }
  static void widen_three(const float* src, int64_t plane, int64_t pixels, std::byte* dst) {
    widen_planes(src, plane, pixels, dst);
  }
  static void put_codes(const LowCodes& c, const std::byte* sums, int64_t rows) { put_low_codes(c, sums, rows); }
  static void put_short(const LowCodes& c, const LowTile& t, int64_t rows) { put_short_codes(c, t, rows); }
  void run(const LowTile& t, int rows, int panels) const {
    static constexpr LowTileFunctions<E, 1, kRows1> kOne;
    static constexpr LowTileFunctions<E, 2, kRows2> kTwo;
    static constexpr LowTileFunctions<E, 4, kFewRows> kFour;
    (panels == 1 ? kOne.of[rows] : panels == 2 ? kTwo.of[rows] : kFour.of[rows])(t);
  }
};

}  // namespace nereid::kernels::NEREID_ISA
