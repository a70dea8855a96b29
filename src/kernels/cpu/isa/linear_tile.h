// SPDX-License-Identifier: Apache-2.0
// The inner loops of linear: one tile of 16 weight rows against M tokens, sums kept in registers.
#pragma once

#include "kernels/cpu/isa/linear_rows.h"

namespace nereid::kernels::NEREID_ISA {

// Bytes the decode loop fetches ahead: far enough to hide memory, near enough to stay in L1 (measured 2-6 KiB flat).
inline constexpr int64_t kPrefetchAhead = 4096;

template <Codes C>
inline constexpr int64_t kCodeBytes = C == Codes::kCode4 ? 32 * 16 / 2 : 32 * 16;  // of 32 columns

// The eight 64-byte vectors of 32 columns, unpacked once and used for every token.
template <Codes C>
inline void unpack_codes(const std::byte* p, simd::Bytes (&w)[8]) {
  using namespace simd;
  if constexpr (C == Codes::kCode4) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Bytes b = load_bytes(p + 64 * i);
      w[2 * i] = low_nibbles(b);
      w[2 * i + 1] = high_nibbles(b);
    }
  } else {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) w[i] = load_bytes(p + 64 * i);
  }
}

template <Codes C>
inline simd::I32 dot4(simd::I32 acc, simd::Bytes w, simd::Bytes a) {
  if constexpr (C == Codes::kCode8) return simd::dot4_code8(acc, w, a);
  return simd::dot4_small(acc, w, a);
}

// acc[m] += tile . row[m] over all columns. `zero` is what the stored codes must still be reduced by.
template <Codes C, int kGroup, bool kHasOffset, int M>
inline void tile_dot_codes(const std::byte* tile, int64_t blocks, float zero, const Rows& rows, int64_t token,
                           simd::F32 (&acc)[M]) {
  using namespace simd;
  constexpr int kGroups = static_cast<int>(kBlockColumns) / kGroup;  // scales a block
  constexpr int64_t kScaleBytes = kGroups * 16 * 2;
  constexpr int64_t kHeader = kScaleBytes * (kHasOffset ? 2 : 1);
  constexpr int64_t kBlock = kHeader + 2 * kCodeBytes<C>;
  const int8_t* codes = rows.codes + token * rows.code_stride;
  const float* scales = rows.scales + token * rows.scale_stride;
  const float* sums = rows.sums + token * rows.sum_stride;
  const F32 minus_zero = set1(-zero);
  for (int64_t b = 0; b < blocks; ++b, tile += kBlock) {
    if constexpr (M <= 4) {
      for (int64_t i = 0; i < kBlock; i += 64) prefetch(tile + kPrefetchAhead + i);
    }
    const auto* header = reinterpret_cast<const uint16_t*>(tile);
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      Bytes w[8];
      unpack_codes<C>(tile + kHeader + half * kCodeBytes<C>, w);
      constexpr int kParts = 32 / kGroup;  // groups in these 32 columns
#pragma GCC unroll 2
      for (int part = 0; part < kParts; ++part) {
        const int g = half * kParts + part;
        const F32 scale = load_f16(header + 16 * g);
        F32 offset;
        if constexpr (kHasOffset && (C != Codes::kCode8 || kCode8Zero == 128))
          offset = load_f16(header + 16 * (kGroups + g));
        else if constexpr (kHasOffset)
          offset = simd::fma(scale, minus_zero, load_f16(header + 16 * (kGroups + g)));
        else
          offset = mul(scale, minus_zero);
#pragma GCC unroll 16
        for (int m = 0; m < M; ++m) {
          const int8_t* a = codes + m * rows.code_stride + b * 64 + half * 32;
          I32 d = izero();
          I32 e = izero();
#pragma GCC unroll 8
          for (int i = part * (8 / kParts); i < (part + 1) * (8 / kParts); i += 2) {
            d = dot4<C>(d, w[i], broadcast4(a + 4 * i));
            e = dot4<C>(e, w[i + 1], broadcast4(a + 4 * i + 4));
          }
          const F32 s = mul(scale, set1(scales[m * rows.scale_stride + b * 2 + half]));
          acc[m] = simd::fma(to_f32(iadd(d, e)), s, acc[m]);
          acc[m] = simd::fma(offset, set1(sums[m * rows.sum_stride + b * kGroups + g]), acc[m]);
        }
      }
    }
  }
}

template <Codes C>
inline simd::F32 load_weights(const std::byte* p) {
  if constexpr (C == Codes::kF32) return simd::load(reinterpret_cast<const float*>(p));
  if constexpr (C == Codes::kF16) return simd::load_f16(reinterpret_cast<const uint16_t*>(p));
  return simd::load_bf16(reinterpret_cast<const uint16_t*>(p));
}

// T tiles at once, so that one token has T independent chains of additions.
template <Codes C, int M, int T>
inline void tile_dot_floats(const std::byte* tile, int64_t tile_bytes, int64_t cols, const Rows& rows, int64_t token,
                            simd::F32 (&acc)[T][M]) {
  using namespace simd;
  constexpr int64_t kColumn = C == Codes::kF32 ? 64 : 32;
  const float* x = rows.x + token * rows.x_stride;
  for (int64_t k = 0; k < cols; ++k) {
#pragma GCC unroll 4
    for (int t = 0; t < T; ++t) {
      const std::byte* p = tile + t * tile_bytes + k * kColumn;
      if constexpr (M <= 4) prefetch(p + 2048);
      const F32 w = load_weights<C>(p);
#pragma GCC unroll 16
      for (int m = 0; m < M; ++m) acc[t][m] = simd::fma(w, set1(x[m * rows.x_stride + k]), acc[t][m]);
    }
  }
}

}  // namespace nereid::kernels::NEREID_ISA
