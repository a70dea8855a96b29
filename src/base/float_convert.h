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

// The "fnuz" kinds: no infinities, no negative zero, one NaN (0x80), every other byte a number.
inline constexpr F8Format kF8E4M3Fnuz{3, 8, false, 0x7f};
inline constexpr F8Format kF8E5M2Fnuz{2, 16, false, 0x7f};
template <F8Format F>
constexpr float f8fnuz_decode(uint8_t byte) {
  return byte == 0x80 ? std::bit_cast<float>(0x7fc00000u) : f8_decode<F>(byte);
}
template <F8Format F>
constexpr uint8_t f8fnuz_encode(float f, F8Overflow overflow) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(f) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x80;
  // Half a step above the largest value, which has an odd mantissa: from there on the nearest is no number.
  constexpr float kLargest = f8_decode<F>(F.largest);
  constexpr float kStep = kLargest - f8_decode<F>(F.largest - 1);
  if (overflow == F8Overflow::kSpecial && std::bit_cast<float>(magnitude) >= kLargest + kStep / 2) return 0x80;
  const uint8_t byte = f8_encode<F>(f, F8Overflow::kSaturate);
  return byte == 0x80 ? uint8_t{0} : byte;
}
constexpr float f8e4m3fnuz_to_f32(uint8_t byte) {
  return f8fnuz_decode<kF8E4M3Fnuz>(byte);
}
constexpr float f8e5m2fnuz_to_f32(uint8_t byte) {
  return f8fnuz_decode<kF8E5M2Fnuz>(byte);
}
constexpr uint8_t f32_to_f8e4m3fnuz(float f, F8Overflow overflow = F8Overflow::kSaturate) {
  return f8fnuz_encode<kF8E4M3Fnuz>(f, overflow);
}
constexpr uint8_t f32_to_f8e5m2fnuz(float f, F8Overflow overflow = F8Overflow::kSaturate) {
  return f8fnuz_encode<kF8E5M2Fnuz>(f, overflow);
}

// Powers of two, 2^(byte - 127); 0xff is NaN.
constexpr float f8e8m0_to_f32(uint8_t byte) {
  if (byte == 0xff) return std::bit_cast<float>(0x7fc00000u);
  return std::bit_cast<float>(byte == 0 ? 0x00400000u : uint32_t{byte} << 23);
}
// The sign is lost; to the nearest power of two, halves up; what is too small or too large becomes the nearest there
// is.
constexpr uint8_t f32_to_f8e8m0(float f) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(f) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  if (magnitude < 0x00400000u) return 0;
  const uint32_t rounded = (magnitude + 0x00400000u) >> 23;
  return static_cast<uint8_t>(rounded > 0xfe ? 0xfe : rounded);
}

// Four bits: sign, 0 0.5 1 1.5 2 3 4 6. No infinities, no NaN (which becomes the largest, as ONNX has it).
constexpr float f4e2m1_to_f32(uint8_t nibble) {
  constexpr std::array<float, 8> kValues = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float v = kValues[nibble & 7u];
  return nibble & 8u ? -v : v;
}
constexpr uint8_t f32_to_f4e2m1(float f) {
  const uint32_t sign = std::bit_cast<uint32_t>(f) >> 31 << 3;
  const float v = std::bit_cast<float>(std::bit_cast<uint32_t>(f) & 0x7fffffffu);
  // Ties go to the even mantissa: 0.25 -> 0, 0.75 -> 1, 1.25 -> 1, 1.75 -> 2, 2.5 -> 2, 3.5 -> 4, 5 -> 4.
  uint32_t bits = 7;
  if (v <= 0.25f)
    bits = 0;
  else if (v < 0.75f)
    bits = 1;
  else if (v <= 1.25f)
    bits = 2;
  else if (v < 1.75f)
    bits = 3;
  else if (v <= 2.5f)
    bits = 4;
  else if (v < 3.5f)
    bits = 5;
  else if (v <= 5.0f)
    bits = 6;
  return static_cast<uint8_t>(sign | bits);
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
