// SPDX-License-Identifier: Apache-2.0
// Rows of codes from sums of 32 columns (LowCodes), two rows at a time: four vectors are packed together.
// A source an instruction set includes this after its bytes (bytes_*.h).
#pragma once

#include "kernels/cpu/isa/low_code_sums.h"
#include "kernels/cpu/isa/low_tile.h"

namespace nereid::kernels::NEREID_ISA {
namespace {

// kAll steps of k in kSegments pieces.
template <int kSegments, int kAll, bool kBounded>
[[gnu::noinline]] void put_short_rows(const LowCodes& c, const LowTile& t, int64_t rows) {
  using namespace simd;
  constexpr int kSteps = kAll / kSegments;
  QuadBlock w[2][kAll];
  unrolled<2>([&]<int j>() __attribute__((always_inline)) {
    unrolled<kAll>([&]<int k>()
                       __attribute__((always_inline)) { w[j][k] = load_quads(t.b + j * t.panel_stride + 64 * k); });
  });
  const char* a[kSegments];
  unrolled<kSegments>([&]<int s>() { a[s] = reinterpret_cast<const char*>(t.a[s]); });
  const CodeRows<false, kBounded, true> codes(c);
  const I32 first = load_i32(c.begin), second = load_i32(c.begin + 16);
  const auto add = [&](int64_t offset, I32(&sum)[2]) __attribute__((always_inline)) {
    sum[0] = first;
    sum[1] = second;
    unrolled<kAll>([&]<int k>() __attribute__((always_inline)) {
      const Quad x = spread_quad(a[k / kSteps] + offset + 4 * (k % kSteps));
      sum[0] = dot_quads(sum[0], x, w[0][k]);
      sum[1] = dot_quads(sum[1], x, w[1][k]);
    });
  };
  auto* y = reinterpret_cast<uint8_t*>(c.y);
  int64_t at = 0, i = 0;
  for (; i + 2 <= rows; i += 2, at += 2 * t.a_stride, y += 2 * c.y_stride) {
    I32 upper[2], lower[2];
    add(at, upper);
    add(at + t.a_stride, lower);
    store_code_rows(y, y + c.y_stride, codes.template from<0>(upper[0], nullptr),
                    codes.template from<1>(upper[1], nullptr), codes.template from<0>(lower[0], nullptr),
                    codes.template from<1>(lower[1], nullptr), c.zero);
  }
  if (i == rows) return;
  I32 last[2];
  add(at, last);
  store_u8(y, iadd(codes.template from<0>(last[0], nullptr), iset1(c.zero)));
  store_u8(y + 16, iadd(codes.template from<1>(last[1], nullptr), iset1(c.zero)));
}
template <bool kBounded>
void put_short_steps(const LowCodes& c, const LowTile& t, int64_t rows) {
  if (t.segments == 3) return put_short_rows<3, 9, kBounded>(c, t, rows);
  [&]<int... I>(std::integer_sequence<int, I...>) {
    static constexpr void (*kBySteps[])(const LowCodes&, const LowTile&,
                                        int64_t) = {put_short_rows<1, I + 1, kBounded>...};
    kBySteps[t.steps - 1](c, t, rows);
  }
  (std::make_integer_sequence<int, 8>{});
}

template <bool kBegun>
void put_code_rows(const LowCodes& c, const std::byte* sums, int64_t rows) {
  if (c.residual)
    c.bounded ? CodeRows<true, true, kBegun>(c).put(sums, rows) : CodeRows<true, false, kBegun>(c).put(sums, rows);
  else
    c.bounded ? CodeRows<false, true, kBegun>(c).put(sums, rows) : CodeRows<false, false, kBegun>(c).put(sums, rows);
}

}  // namespace

void put_low_codes(const LowCodes& c, const std::byte* sums, int64_t rows) {
  c.begun ? put_code_rows<true>(c, sums, rows) : put_code_rows<false>(c, sums, rows);
}

void put_short_codes(const LowCodes& c, const LowTile& t, int64_t rows) {
  if constexpr (simd::kQuadRows2 >= 8)
    c.bounded ? put_short_steps<true>(c, t, rows) : put_short_steps<false>(c, t, rows);
}

}  // namespace nereid::kernels::NEREID_ISA
