// SPDX-License-Identifier: Apache-2.0
#include "quant/floats.h"

#include <algorithm>
#include <span>

#include "base/float_convert.h"

namespace nereid::quant {
namespace {

template <typename T>
std::span<const T> from(const void* row, int64_t n) {
  return {static_cast<const T*>(row), static_cast<size_t>(n)};
}
template <typename T>
std::span<T> to(void* row, int64_t n) {
  return {static_cast<T*>(row), static_cast<size_t>(n)};
}

}  // namespace

void decode_f32(const void* row, float* dst, int64_t n) {
  std::copy_n(static_cast<const float*>(row), n, dst);
}
void encode_f32(const float* src, void* row, int64_t n) {
  std::copy_n(src, n, static_cast<float*>(row));
}

void decode_f64(const void* row, float* dst, int64_t n) {
  std::ranges::transform(from<double>(row, n), dst, [](double v) { return static_cast<float>(v); });
}
void encode_f64(const float* src, void* row, int64_t n) {
  std::copy_n(src, n, static_cast<double*>(row));
}

void decode_f16(const void* row, float* dst, int64_t n) {
  f16_to_f32(from<uint16_t>(row, n), to<float>(dst, n));
}
void encode_f16(const float* src, void* row, int64_t n) {
  f32_to_f16(from<float>(src, n), to<uint16_t>(row, n));
}

void decode_bf16(const void* row, float* dst, int64_t n) {
  bf16_to_f32(from<uint16_t>(row, n), to<float>(dst, n));
}
void encode_bf16(const float* src, void* row, int64_t n) {
  f32_to_bf16(from<float>(src, n), to<uint16_t>(row, n));
}

void decode_f8e4m3(const void* row, float* dst, int64_t n) {
  f8e4m3_to_f32(from<uint8_t>(row, n), to<float>(dst, n));
}
void encode_f8e4m3(const float* src, void* row, int64_t n) {
  f32_to_f8e4m3(from<float>(src, n), to<uint8_t>(row, n));
}

void decode_f8e5m2(const void* row, float* dst, int64_t n) {
  f8e5m2_to_f32(from<uint8_t>(row, n), to<float>(dst, n));
}
void encode_f8e5m2(const float* src, void* row, int64_t n) {
  f32_to_f8e5m2(from<float>(src, n), to<uint8_t>(row, n));
}

}  // namespace nereid::quant
