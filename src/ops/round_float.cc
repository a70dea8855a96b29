// SPDX-License-Identifier: Apache-2.0
#include "ops/round_float.h"

#include <bit>
#include <cmath>

#include "base/float_convert.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

// The sign is lost. Below 2^-127: that power, or no number if it does not saturate; likewise above 2^127.
uint8_t encode_f8e8m0(float value, const FloatRounding& rounding) {
  constexpr uint8_t kNan = 0xff;
  constexpr uint8_t kLargest = 0xfe;
  if (std::isnan(value)) return kNan;
  const float x = std::abs(value);
  if (x < 0x1p-127f) return rounding.saturate ? 0 : kNan;
  if (std::isinf(x)) return rounding.saturate ? kLargest : kNan;
  int exponent = 0;
  const float fraction = 2 * std::frexp(x, &exponent);  // in [1, 2)
  exponent += 126;                                      // the byte that stands for the power of two below
  const bool up = rounding.scale == ScaleRounding::kUp        ? fraction > 1
                  : rounding.scale == ScaleRounding::kNearest ? fraction >= 1.5f
                                                              : false;
  if (up) ++exponent;
  if (exponent > kLargest) return rounding.saturate ? kLargest : kNan;
  return static_cast<uint8_t>(exponent);
}

}  // namespace

std::optional<ScaleRounding> scale_rounding_from_name(std::string_view name) {
  if (name == "up") return ScaleRounding::kUp;
  if (name == "down") return ScaleRounding::kDown;
  if (name == "nearest") return ScaleRounding::kNearest;
  return std::nullopt;
}

bool is_f8(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
      return true;
    default:
      return false;
  }
}

float round_to_odd(double value) {
  const float f = static_cast<float>(value);
  const auto bits = std::bit_cast<uint32_t>(f);
  if (std::isnan(value) || std::isinf(f) || static_cast<double>(f) == value || (bits & 1) != 0) return f;
  // Even, and one of the two neighbours of the value: the other one is odd.
  return std::bit_cast<float>(std::abs(static_cast<double>(f)) < std::abs(value) ? bits + 1 : bits - 1);
}

void store_rounded(const TensorView& dst, std::span<const float> values, const FloatRounding& rounding) {
  NEREID_CHECK(dst.elements() == static_cast<int64_t>(values.size()));
  const F8Overflow overflow = rounding.saturate ? F8Overflow::kSaturate : F8Overflow::kSpecial;
  const auto each = [&](auto encode) {
    for (size_t i = 0; i < values.size(); ++i) dst.as<uint8_t>()[i] = encode(values[i]);
  };
  switch (dst.dtype) {
    case DType::f8e4m3:
      return each([&](float v) { return f32_to_f8e4m3(v, overflow); });
    case DType::f8e5m2:
      return each([&](float v) { return f32_to_f8e5m2(v, overflow); });
    case DType::f8e4m3fnuz:
      return each([&](float v) { return f32_to_f8e4m3fnuz(v, overflow); });
    case DType::f8e5m2fnuz:
      return each([&](float v) { return f32_to_f8e5m2fnuz(v, overflow); });
    case DType::f8e8m0:
      return each([&](float v) { return encode_f8e8m0(v, rounding); });
    case DType::f4e2m1: {
      Elements<float> numbers(dst.elements());
      for (size_t i = 0; i < values.size(); ++i)
        numbers[static_cast<int64_t>(i)] = std::isnan(values[i]) ? -0.0f : values[i];
      (void)store<float>(dst, numbers);
      return;
    }
    default:
      (void)store<float>(dst, values);
  }
}

}  // namespace nereid::ops
