// SPDX-License-Identifier: Apache-2.0
// Activations copied for low-precision kernels: rounded to bf16, shifted to u8, three colours made four.
#pragma once

#include <cstring>

#include "kernels/cpu/isa/low_output.h"

namespace nereid::kernels::NEREID_ISA {

// n numbers of type `from` as the kernel wants them: bf16, or u8.
inline void copy_low(LowType from, const std::byte* src, int64_t n, std::byte* dst) {
  if (from == LowType::kBF16 || from == LowType::kU8) {
    std::memcpy(dst, src, static_cast<size_t>(n * low_bytes(from)));
    return;
  }
  if (from == LowType::kS8) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i] ^ std::byte{0x80};
    return;
  }
  int64_t i = 0;
  for (; i + 16 <= n; i += 16)
    simd::store_bf16(reinterpret_cast<uint16_t*>(dst) + i, simd::load(reinterpret_cast<const float*>(src) + i));
  if (i < n)
    store_low(LowType::kBF16, dst + 2 * i, load_low(LowType::kF32, src + 4 * i, static_cast<int>(n - i)),
              static_cast<int>(n - i));
}

// Pixels of three bytes as four, of which the last counts for nothing.
inline void copy_colours(const std::byte* src, int64_t pixels, uint8_t flip, std::byte* dst) {
  const uint32_t flips = flip * 0x010101u;
  for (int64_t i = 0; i + 1 < pixels; ++i) {
    uint32_t v;
    std::memcpy(&v, src + 3 * i, 4);
    v = (v & 0xffffff) ^ flips;
    std::memcpy(dst + 4 * i, &v, 4);
  }
  if (pixels == 0) return;
  for (int64_t c = 0; c < 3; ++c) dst[4 * (pixels - 1) + c] = src[3 * (pixels - 1) + c] ^ std::byte{flip};
  dst[4 * (pixels - 1) + 3] = std::byte{0};
}

// Pixels of three numbers as four of bf16, of which the last is zero.
inline void widen_colours(LowType from, const std::byte* src, int64_t pixels, std::byte* dst) {
  for (int64_t i = 0; i < pixels; ++i, src += 3 * low_bytes(from), dst += 8) {
    if (from == LowType::kBF16) {
      std::memset(dst + 6, 0, 2);
      std::memcpy(dst, src, 6);
      continue;
    }
    uint64_t halves = 0;
    for (int c = 0; c < 3; ++c) {
      uint32_t v;
      std::memcpy(&v, src + 4 * c, 4);
      // Round to even; NaN stays one.
      const bool nan = (v & 0x7fffffff) > 0x7f800000;
      v = nan ? v | 0x400000 : v + 0x7fff + ((v >> 16) & 1);
      halves |= uint64_t{v >> 16} << (16 * c);
    }
    std::memcpy(dst, &halves, 8);
  }
}

// The same from three planes of numbers, `plane` apart.
inline void widen_planes(const float* src, int64_t plane, int64_t pixels, std::byte* dst) {
  for (int64_t i = 0; i < pixels; ++i, ++src, dst += 8) {
    const float colours[3] = {src[0], src[plane], src[2 * plane]};
    widen_colours(LowType::kF32, reinterpret_cast<const std::byte*>(colours), 1, dst);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
