// SPDX-License-Identifier: Apache-2.0
#include "base/float_convert.h"

#include "base/check.h"

namespace nereid {
namespace {

template <typename S, typename D, typename F>
inline void each(std::span<const S> src, std::span<D> dst, F convert) {
  NEREID_CHECK(src.size() == dst.size());
  const S* __restrict from = src.data();
  D* __restrict to = dst.data();
  for (size_t i = 0, n = src.size(); i < n; ++i) to[i] = convert(from[i]);
}

template <F8Format F>
constexpr std::array<float, 256> f8_table() {
  std::array<float, 256> table{};
  for (size_t i = 0; i < table.size(); ++i) table[i] = f8_decode<F>(static_cast<uint8_t>(i));
  return table;
}

constexpr std::array<float, 256> kF8E4M3Values = f8_table<kF8E4M3>();
constexpr std::array<float, 256> kF8E5M2Values = f8_table<kF8E5M2>();

}  // namespace

void f16_to_f32(std::span<const uint16_t> src, std::span<float> dst) {
  each(src, dst, [](uint16_t h) { return f16_to_f32(h); });
}
void f32_to_f16(std::span<const float> src, std::span<uint16_t> dst) {
  each(src, dst, [](float f) { return f32_to_f16(f); });
}
void bf16_to_f32(std::span<const uint16_t> src, std::span<float> dst) {
  each(src, dst, [](uint16_t h) { return bf16_to_f32(h); });
}
void f32_to_bf16(std::span<const float> src, std::span<uint16_t> dst) {
  each(src, dst, [](float f) { return f32_to_bf16(f); });
}
void f8e4m3_to_f32(std::span<const uint8_t> src, std::span<float> dst) {
  each(src, dst, [](uint8_t b) { return kF8E4M3Values[b]; });
}
void f32_to_f8e4m3(std::span<const float> src, std::span<uint8_t> dst, F8Overflow overflow) {
  each(src, dst, [overflow](float f) { return f32_to_f8e4m3(f, overflow); });
}
void f8e5m2_to_f32(std::span<const uint8_t> src, std::span<float> dst) {
  each(src, dst, [](uint8_t b) { return kF8E5M2Values[b]; });
}
void f32_to_f8e5m2(std::span<const float> src, std::span<uint8_t> dst, F8Overflow overflow) {
  each(src, dst, [overflow](float f) { return f32_to_f8e5m2(f, overflow); });
}

}  // namespace nereid
