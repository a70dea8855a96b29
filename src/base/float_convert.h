// SPDX-License-Identifier: Apache-2.0
// f16, bf16, f8e4m3 and f8e5m2 to and from f32: exact one way, rounded to nearest (ties to even) the other.
//
// Formats (sign 1 bit each): f16 = IEEE 754 binary16; bf16 = the upper half of f32; f8e5m2 = the upper half of f16;
// f8e4m3 is the "fn" variant of the OCP 8-bit floating point specification: exponent bias 7, no infinities,
// 0x7f and 0xff are NaN, the largest finite value is 448. Denormals are kept in every direction.
// A NaN stays a NaN, quiet, with its sign and the upper payload bits that fit.
//
// This is the portable definition that kernels are checked against; they have faster versions of their own.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace nereid {

// What becomes of a number that rounds beyond the largest finite f8 value, and of an infinity.
enum class F8Overflow {
  kSaturate,  // the largest finite value (ONNX Cast's default)
  kSpecial,   // infinity where the format has one (f8e5m2), else NaN
};

constexpr float f16_to_f32(uint16_t h) {
  const uint32_t sign = uint32_t{h & 0x8000u} << 16;
  const uint32_t magnitude = uint32_t{h & 0x7fffu} << 13;
  // Denormal: 1.m * 2^-14 minus 2^-14 leaves m * 2^-24, without a detour through f32 denormals.
  const uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude | 0x38800000u) - 0x1p-14f);
  const uint32_t normal = magnitude + (112u << 23);  // the biases differ by 127 - 15
  const uint32_t special = magnitude | 0x7f800000u | (magnitude & 0x7fffffu ? 0x400000u : 0u);
  const uint32_t bits = magnitude < (1u << 23) ? denormal : magnitude < (31u << 23) ? normal : special;
  return std::bit_cast<float>(sign | bits);
}

constexpr uint16_t f32_to_f16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (u >> 16) & 0x8000u;
  const uint32_t magnitude = u & 0x7fffffffu;
  // Below 2^-14: 0.5's last place is 2^-24, the step of f16 denormals, so the addition does the rounding.
  const uint32_t tiny = magnitude < 0x38800000u ? magnitude : 0;
  const uint32_t denormal = std::bit_cast<uint32_t>(std::bit_cast<float>(tiny) + 0.5f) - 0x3f000000u;
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  const uint32_t special = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x1ffu) : 0x7c00u;
  // From 65520 on (half a step above the largest value, 65504) the nearest is infinity.
  const uint32_t bits = magnitude < 0x38800000u ? denormal : magnitude < 0x477ff000u ? normal : special;
  return static_cast<uint16_t>(sign | bits);
}

constexpr float bf16_to_f32(uint16_t h) {
  const uint32_t quiet = (h & 0x7fffu) > 0x7f80u ? 0x400000u : 0u;
  return std::bit_cast<float>(uint32_t{h} << 16 | quiet);
}

constexpr uint16_t f32_to_bf16(float f) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  const uint32_t nan = (u >> 16) | 0x40u;
  return static_cast<uint16_t>((u & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

// The 8-bit formats by their field widths.
struct F8Format {
  int mantissa_bits;
  int bias;
  bool has_infinity;
  uint8_t largest;  // the bits of the largest finite value
};
inline constexpr F8Format kF8E4M3{3, 7, false, 0x7e};
inline constexpr F8Format kF8E5M2{2, 15, true, 0x7b};

template <F8Format F>
constexpr float f8_decode(uint8_t byte) {
  const uint32_t sign = uint32_t{byte & 0x80u} << 24;
  const uint32_t magnitude = byte & 0x7fu;
  if (magnitude > F.largest) {
    const bool infinity = F.has_infinity && magnitude == F.largest + 1u;
    return std::bit_cast<float>(sign | (infinity ? 0x7f800000u : 0x7fc00000u));
  }
  const uint32_t aligned = magnitude << (23 - F.mantissa_bits);
  // As for f16: the denormals of the format via the smallest power of two of its normal numbers.
  const uint32_t one = static_cast<uint32_t>(128 - F.bias) << 23;
  const uint32_t bits = aligned < (1u << 23)
                            ? std::bit_cast<uint32_t>(std::bit_cast<float>(aligned | one) - std::bit_cast<float>(one))
                            : aligned + (static_cast<uint32_t>(127 - F.bias) << 23);
  return std::bit_cast<float>(sign | bits);
}

template <F8Format F>
constexpr uint8_t f8_encode(float f, F8Overflow overflow) {
  const uint32_t u = std::bit_cast<uint32_t>(f);
  const uint32_t sign = (u >> 24) & 0x80u;
  const uint32_t magnitude = u & 0x7fffffffu;
  constexpr int kShift = 23 - F.mantissa_bits;
  constexpr uint32_t kSmallestNormal = static_cast<uint32_t>(128 - F.bias) << 23;
  // The power of two whose last place in f32 is the step of the format's denormals.
  constexpr uint32_t kMagic = static_cast<uint32_t>(128 - F.bias + kShift) << 23;
  uint32_t bits = 0;
  if (magnitude > 0x7f800000u)
    return static_cast<uint8_t>(sign | 0x7fu);
  else if (magnitude < kSmallestNormal)
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic)) - kMagic;
  else
    bits = (magnitude - (static_cast<uint32_t>(127 - F.bias) << 23) + ((1u << (kShift - 1)) - 1u) +
            ((magnitude >> kShift) & 1u)) >>
           kShift;
  if (bits > F.largest) bits = overflow == F8Overflow::kSaturate ? F.largest : F.has_infinity ? F.largest + 1u : 0x7fu;
  return static_cast<uint8_t>(sign | bits);
}

constexpr float f8e4m3_to_f32(uint8_t byte) {
  return f8_decode<kF8E4M3>(byte);
}
constexpr float f8e5m2_to_f32(uint8_t byte) {
  return f8_decode<kF8E5M2>(byte);
}
constexpr uint8_t f32_to_f8e4m3(float f, F8Overflow overflow = F8Overflow::kSaturate) {
  return f8_encode<kF8E4M3>(f, overflow);
}
constexpr uint8_t f32_to_f8e5m2(float f, F8Overflow overflow = F8Overflow::kSaturate) {
  return f8_encode<kF8E5M2>(f, overflow);
}

// Many at once; both spans have the same length (checked) and do not overlap.
void f16_to_f32(std::span<const uint16_t> src, std::span<float> dst);
void f32_to_f16(std::span<const float> src, std::span<uint16_t> dst);
void bf16_to_f32(std::span<const uint16_t> src, std::span<float> dst);
void f32_to_bf16(std::span<const float> src, std::span<uint16_t> dst);
void f8e4m3_to_f32(std::span<const uint8_t> src, std::span<float> dst);
void f32_to_f8e4m3(std::span<const float> src, std::span<uint8_t> dst, F8Overflow overflow = F8Overflow::kSaturate);
void f8e5m2_to_f32(std::span<const uint8_t> src, std::span<float> dst);
void f32_to_f8e5m2(std::span<const float> src, std::span<uint8_t> dst, F8Overflow overflow = F8Overflow::kSaturate);

}  // namespace nereid
