// SPDX-License-Identifier: Apache-2.0
// The elements that a key/value cache may be made of: how sixteen of them are stored and read.
#pragma once

#include "kernels/cpu/attention.h"
#include "kernels/cpu/isa/vector_math.h"

#include NEREID_ISA_HEADER

namespace nereid::kernels::NEREID_ISA {

// Keeps a stored number finite: an infinity would turn the zero weights of masked neighbours into NaN.
inline simd::F32 clamp(simd::F32 v, float largest) {
  return simd::min(simd::max(v, simd::set1(-largest)), simd::set1(largest));
}

// An element means load() * kFactor.
struct CacheF16 {
  using Element = uint16_t;
  static constexpr bool kIsCodes = false;
  static constexpr float kFactor = 1;
  static simd::F32 load(const Element* p) { return simd::load_f16(p); }
  static void store(Element* p, simd::F32 v) { simd::store_f16(p, clamp(v, 65504.0f)); }
};

struct CacheF32 {
  using Element = float;
  static constexpr bool kIsCodes = false;
  static constexpr float kFactor = 1;
  static simd::F32 load(const Element* p) { return simd::load(p); }
  static void store(Element* p, simd::F32 v) { simd::store(p, clamp(v, 1e30f)); }
};

struct CacheBF16 {
  using Element = uint16_t;
  static constexpr bool kIsCodes = false;
  static constexpr float kFactor = 1;
  static simd::F32 load(const Element* p) { return simd::load_bf16(p); }
  static void store(Element* p, simd::F32 v) { simd::store_bf16(p, clamp(v, 1e30f)); }
};

// Sign, 4 bits of exponent (bias 7), 3 of mantissa: read as the f16 of the same fields, whose bias is 8 more.
struct CacheF8 {
  using Element = uint8_t;
  static constexpr bool kIsCodes = false;
  static constexpr float kFactor = 256;
  static simd::F32 load(const Element* p) {
    alignas(32) uint16_t half[16];
    for (int i = 0; i < 16; ++i) half[i] = static_cast<uint16_t>((p[i] & 0x80) << 8 | (p[i] & 0x7f) << 7);
    return simd::load_f16(half);
  }
  // To the nearest, ties to even, as f32_to_f8e4m3 (base/float_convert.h) has it.
  static void store(Element* p, simd::F32 v) {
    alignas(64) float x[16];
    simd::store(x, clamp(v, 448.0f));
    for (int i = 0; i < 16; ++i) {
      const auto u = __builtin_bit_cast(uint32_t, x[i]);
      const uint32_t magnitude = u & 0x7fffffffu;
      // Below 2^-6 by the sum with 2^14, whose last place is 2^-9, the step of numbers so small.
      const uint32_t bits =
          magnitude < 0x3c800000u
              ? __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + 16384.0f) - 0x46800000u
              : (magnitude - 0x3c000000u + 0x7ffffu + (magnitude >> 20 & 1)) >> 20;
      p[i] = static_cast<uint8_t>((u >> 24 & 0x80u) | bits);
    }
  }
};

// Codes of 8 bits with a scale a row.
struct CacheI8 {
  using Element = int8_t;
  static constexpr bool kIsCodes = true;
  static constexpr float kFactor = 1;
  static simd::F32 load(const Element* p) { return simd::load_s8(p); }
};

// Codes of a row, -127 to 127; gives their scale. n is a multiple of 16.
inline float store_codes(const float* x, int n, float largest_number, int8_t* codes) {
  simd::F32 top = simd::zero();
  for (int d = 0; d < n; d += 16) top = simd::max(top, simd::abs(clamp(simd::load(x + d), largest_number)));
  const float largest = simd::reduce_max(top);
  const bool is_zero = largest < 1e-30f;  // 127 / largest would be no number, and nobody would miss it
  const simd::F32 inverse = simd::set1(is_zero ? 0.0f : 127.0f / largest);
  for (int d = 0; d < n; d += 16)
    simd::store_i8(codes + d, simd::to_i32(simd::mul(clamp(simd::load(x + d), largest_number), inverse)));
  return is_zero ? 0.0f : largest / 127.0f;
}

}  // namespace nereid::kernels::NEREID_ISA
