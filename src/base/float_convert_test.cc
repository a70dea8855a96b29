// SPDX-License-Identifier: Apache-2.0
// The conversions against the formats' definition: value = (-1)^s * 2^(e-bias) * 1.m, written with ldexp in double.
#include "base/float_convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace nereid {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The value of non-negative, finite bits.
double definition(uint32_t bits, int mantissa_bits, int bias) {
  const auto e = static_cast<int>(bits >> mantissa_bits);
  const double m = std::ldexp(bits & ((1u << mantissa_bits) - 1), -mantissa_bits);
  return e == 0 ? std::ldexp(m, 1 - bias) : std::ldexp(1 + m, e - bias);
}

struct Case {
  const char* name;
  int mantissa_bits, bias;
  uint32_t largest, sign_bit;
  std::function<float(uint32_t)> decode;
  std::function<uint32_t(float)> encode;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"f16", 10, 15, 0x7bff, 0x8000, [](uint32_t b) { return f16_to_f32(static_cast<uint16_t>(b)); },
       [](float f) { return f32_to_f16(f); }},
      {"bf16", 7, 127, 0x7f7f, 0x8000, [](uint32_t b) { return bf16_to_f32(static_cast<uint16_t>(b)); },
       [](float f) { return f32_to_bf16(f); }},
      {"f8e4m3", 3, 7, 0x7e, 0x80, [](uint32_t b) { return f8e4m3_to_f32(static_cast<uint8_t>(b)); },
       [](float f) { return f32_to_f8e4m3(f); }},
      {"f8e5m2", 2, 15, 0x7b, 0x80, [](uint32_t b) { return f8e5m2_to_f32(static_cast<uint8_t>(b)); },
       [](float f) { return f32_to_f8e5m2(f); }},
  };
  return all;
}

TEST(FloatConvert, every_finite_value_is_what_the_formula_says_and_comes_back) {
  for (const Case& c : cases())
    for (uint32_t b = 0; b <= c.largest; ++b) {
      const double expected = definition(b, c.mantissa_bits, c.bias);
      ASSERT_EQ(c.decode(b), expected) << c.name << " " << b;
      ASSERT_EQ(c.decode(b | c.sign_bit), -expected) << c.name << " " << b;
      ASSERT_EQ(c.encode(c.decode(b)), b) << c.name;
      ASSERT_EQ(c.encode(c.decode(b | c.sign_bit)), b | c.sign_bit) << c.name;
    }
}

TEST(FloatConvert, between_two_values_the_nearer_wins_and_a_tie_goes_to_the_even_one) {
  for (const Case& c : cases())
    for (uint32_t b = 0; b < c.largest; ++b) {
      const double low = definition(b, c.mantissa_bits, c.bias), high = definition(b + 1, c.mantissa_bits, c.bias);
      const auto middle = static_cast<float>((low + high) / 2);
      ASSERT_EQ(middle, (low + high) / 2) << "f32 holds every midpoint";
      ASSERT_EQ(c.encode(middle), b + (b & 1)) << c.name << " " << b;
      ASSERT_EQ(c.encode(std::nextafter(middle, 0.0f)), b) << c.name << " " << b;
      ASSERT_EQ(c.encode(std::nextafter(middle, kInf)), b + 1) << c.name << " " << b;
      ASSERT_EQ(c.encode(-middle), (b + (b & 1)) | c.sign_bit) << c.name << " " << b;
    }
}

TEST(FloatConvert, the_first_value_past_the_largest_overflows) {
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-kInf), 0xfc00);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_f8e4m3(464.0f, F8Overflow::kSpecial), 0x7e);
  EXPECT_EQ(f32_to_f8e4m3(464.1f, F8Overflow::kSpecial), 0x7f);
  EXPECT_EQ(f32_to_f8e4m3(-kInf, F8Overflow::kSpecial), 0xff);
  EXPECT_EQ(f32_to_f8e4m3(-kInf), 0xfe);
  EXPECT_EQ(f32_to_f8e4m3(1e30f), 0x7e);
  EXPECT_EQ(f32_to_f8e5m2(61439.0f, F8Overflow::kSpecial), 0x7b);
  EXPECT_EQ(f32_to_f8e5m2(61440.0f, F8Overflow::kSpecial), 0x7c);
  EXPECT_EQ(f32_to_f8e5m2(-kInf, F8Overflow::kSpecial), 0xfc);
  EXPECT_EQ(f32_to_f8e5m2(kInf), 0x7b);
}

TEST(FloatConvert, infinities_and_nans_stay_what_they_are) {
  EXPECT_EQ(f16_to_f32(0xfc00), -kInf);
  EXPECT_EQ(bf16_to_f32(0x7f80), kInf);
  EXPECT_EQ(f8e5m2_to_f32(0x7c), kInf);
  for (uint32_t h = 0; h < 0x10000; ++h) {
    const auto b = static_cast<uint16_t>(h);
    if ((h & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(f16_to_f32(b)));
      ASSERT_EQ(f32_to_f16(f16_to_f32(b)), h | 0x200u) << "quiet, payload kept";
    }
    if ((h & 0x7fff) > 0x7f80) {
      ASSERT_TRUE(std::isnan(bf16_to_f32(b)));
      ASSERT_EQ(f32_to_bf16(bf16_to_f32(b)), h | 0x40u);
    }
  }
  for (const uint8_t b : {0x7f, 0xff}) EXPECT_TRUE(std::isnan(f8e4m3_to_f32(b)));
  for (const uint8_t b : {0x7d, 0x7e, 0x7f, 0xfd}) EXPECT_TRUE(std::isnan(f8e5m2_to_f32(b)));
  EXPECT_EQ(f32_to_f8e4m3(-kNan) & 0x7f, 0x7f);
  EXPECT_EQ(f32_to_f8e5m2(kNan), 0x7f);
}

TEST(FloatConvert, values_below_half_of_the_smallest_become_a_zero_with_the_sign) {
  for (const Case& c : cases()) {
    if (c.bias == 127) continue;
    EXPECT_EQ(c.encode(-std::numeric_limits<float>::denorm_min()), c.sign_bit) << c.name;
    EXPECT_EQ(c.encode(std::numeric_limits<float>::denorm_min()), 0u) << c.name;
  }
}

TEST(FloatConvert, many_at_once_are_each_what_one_alone_is) {
  std::vector<uint16_t> halves(0x10000), back(0x10000);
  std::vector<float> floats(0x10000);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  f16_to_f32(halves, floats);
  f32_to_f16(floats, back);
  for (size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(back[i], f32_to_f16(f16_to_f32(halves[i])));
  bf16_to_f32(halves, floats);
  f32_to_bf16(floats, back);
  for (size_t i = 0; i < halves.size(); ++i) ASSERT_EQ(back[i], f32_to_bf16(bf16_to_f32(halves[i])));
  std::vector<uint8_t> bytes(0x10000);
  f32_to_f8e4m3(floats, bytes);
  for (size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], f32_to_f8e4m3(floats[i]));
  f8e4m3_to_f32(bytes, floats);
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(f8e4m3_to_f32(bytes[i])));
  f32_to_f8e5m2(floats, bytes, F8Overflow::kSpecial);
  f8e5m2_to_f32(bytes, floats);
  for (size_t i = 0; i < bytes.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(floats[i]), std::bit_cast<uint32_t>(f8e5m2_to_f32(bytes[i])));
}

TEST(FloatConvert, agrees_with_numpy_and_ml_dtypes) {
  std::ifstream golden(NEREID_SOURCE_DIR "/tests/data/base/floats.txt");
  std::string line;
  int cases = 0;
  while (std::getline(golden, line)) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    uint32_t f32 = 0, f16 = 0, bf16 = 0, e4m3 = 0, e5m2 = 0;
    in >> std::hex >> f32 >> f16 >> bf16 >> e4m3 >> e5m2;
    const auto f = std::bit_cast<float>(f32);
    ++cases;
    if (std::isnan(f)) continue;  // each keeps a NaN, but with a payload of its own
    ASSERT_EQ(f32_to_f16(f), f16) << line;
    ASSERT_EQ(f32_to_bf16(f), bf16) << line;
    ASSERT_EQ(f32_to_f8e4m3(f, F8Overflow::kSpecial), e4m3) << line;
    ASSERT_EQ(f32_to_f8e5m2(f, F8Overflow::kSpecial), e5m2) << line;
  }
  EXPECT_GT(cases, 400);
}

static_assert(f16_to_f32(0x3c00) == 1.0f && f32_to_f16(1.0f) == 0x3c00);
static_assert(f8e4m3_to_f32(0x7e) == 448.0f && f8e5m2_to_f32(0x7b) == 57344.0f);

}  // namespace
}  // namespace nereid
