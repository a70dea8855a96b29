// SPDX-License-Identifier: Apache-2.0
// The inner loops of linear: one tile of 16 weight rows against M tokens, sums kept in registers.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

namespace nereid::kernels::NEREID_ISA {

// Bytes the loops fetch ahead: far enough to hide memory, near enough to stay in L1 (measured 2-8 KiB flat). Left to
// the hardware, 8 tokens of 4-bit codes from memory make 85 G products a second instead of 150, 16 make 140 instead of
// 195. Tokens that find the tile in L2 fetch as well, for 1 %: a branch cost GCC 12's loop 20 %.
inline constexpr int64_t kPrefetchAhead = 4096;

template <Codes C>
inline constexpr int64_t kCodeBytes = C == Codes::kCode4 ? 32 * 16 / 2 : 32 * 16;  // of 32 columns

// The eight 64-byte vectors of 32 columns, unpacked once and used for every token.
template <Codes C>
inline void unpack_codes(const std::byte* p, simd::Bytes (&w)[8]) {
  using namespace simd;
  if constexpr (C == Codes::kCode4) {
    unrolled<4>([&]<int i>() {
      const Bytes b = load_bytes(p + 64 * i);
      w[2 * i] = low_nibbles(b);
      w[2 * i + 1] = high_nibbles(b);
    });
  } else {
    unrolled<8>([&]<int i>() { w[i] = load_bytes(p + 64 * i); });
  }
}

template <Codes C>
inline constexpr int kCodeBits = C == Codes::kCode4   ? 4
                                 : C == Codes::kCode7 ? 7
                                                      : 8;

// result[m] = tile . row[m] over all columns, for M tokens that lie in one block of the prepared rows. `zero` is what
// the stored codes must still be reduced by.
template <Codes C, int kGroup, bool kHasOffset, int M>
[[gnu::flatten]] inline void tile_dot_codes(const std::byte* tile, int64_t blocks, float zero, const Rows& rows,
                                            int64_t token, simd::F32 (&result)[M]) {
  using namespace simd;
  F32 acc[M] = {};  // no one else's memory: loads of bytes may alias whatever is
  constexpr int kGroups = static_cast<int>(kBlockColumns) / kGroup;  // scales a block
  constexpr int kParts = 32 / kGroup;                                // groups in 32 columns
  constexpr int64_t kScaleBytes = kGroups * 16 * 2;
  constexpr int64_t kHeader = kScaleBytes * (kHasOffset ? 2 : 1);
  constexpr int64_t kBlock = kHeader + 2 * kCodeBytes<C>;
  const int8_t* codes = rows.codes_of(token);
  const float* scales = rows.scales_of(token);
  const float* sums = rows.sums_of(token);
  const int64_t step = rows.block;
  const F32 minus_zero = set1(-zero);
  for (int64_t b = 0; b < blocks; ++b, tile += kBlock) {
    for (int64_t i = 0; i < kBlock; i += 64) prefetch(tile + kPrefetchAhead + i);
    const auto* header = reinterpret_cast<const uint16_t*>(tile);
    unrolled<2>([&]<int half>() {
      Bytes w[8];
      unpack_codes<C>(tile + kHeader + half * kCodeBytes<C>, w);
      unrolled<kParts>([&]<int kPart>() {
        constexpr int g = half * kParts + kPart;
        const F32 scale = load_f16(header + 16 * g);
        F32 offset;
        if constexpr (kHasOffset && (C != Codes::kCode8 || kCode8Zero == 128))
          offset = load_f16(header + 16 * (kGroups + g));
        else if constexpr (kHasOffset)
          offset = simd::fma(scale, minus_zero, load_f16(header + 16 * (kGroups + g)));
        else
          offset = mul(scale, minus_zero);
        constexpr int T = M < kDotTokens ? M : kDotTokens;
        unrolled<M / T>([&]<int n>() {
          constexpr int m = n * T;
          I32 d[T];
          dot_columns<kCodeBits<C>, kPart*(8 / kParts), 8 / kParts>(w, codes + 32 * m, d);
          unrolled<T>([&]<int t>() {
            acc[m + t] = simd::fma(to_f32(d[t]), mul(scale, set1(scales[m + t])), acc[m + t]);
            acc[m + t] = simd::fma(offset, set1(sums[m + t]), acc[m + t]);
          });
        });
        sums += step;
      });
      codes += 32 * step;
      scales += step;
    });
  }
  unrolled<M>([&]<int m>() { result[m] = acc[m]; });
}

template <Codes C>
inline simd::F32 load_weights(const std::byte* p) {
  if constexpr (C == Codes::kF32) return simd::load(reinterpret_cast<const float*>(p));
  if constexpr (C == Codes::kF16) return simd::load_f16(reinterpret_cast<const uint16_t*>(p));
  return simd::load_bf16(reinterpret_cast<const uint16_t*>(p));
}

// T tiles at once, so that one token has T independent chains of additions.
template <Codes C, int M, int T>
[[gnu::flatten]] inline void tile_dot_floats(const std::byte* tile, int64_t tile_bytes, int64_t cols, const Rows& rows,
                                             int64_t token, simd::F32 (&result)[T][M]) {
  using namespace simd;
  F32 acc[T][M] = {};
  constexpr int64_t kColumn = C == Codes::kF32 ? 64 : 32;
  const float* x = rows.x + token * rows.x_stride;
  for (int64_t k = 0; k < cols; ++k) {
    unrolled<T>([&]<int t>() {
      const std::byte* p = tile + t * tile_bytes + k * kColumn;
      prefetch(p + 2048);
      const F32 w = load_weights<C>(p);
      unrolled<M>([&]<int m>() { acc[t][m] = simd::fma(w, set1(x[m * rows.x_stride + k]), acc[t][m]); });
    });
  }
  unrolled<T>([&]<int t>() { unrolled<M>([&]<int m>() { result[t][m] = acc[t][m]; }); });
}

}  // namespace nereid::kernels::NEREID_ISA
