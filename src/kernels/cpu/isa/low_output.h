// SPDX-License-Identifier: Apache-2.0
// From a tile's sums to results: scales, bias, residual, activation, and the type of the result.
#pragma once

#include <cstring>

#include "kernels/cpu/isa/activation.h"
#include "kernels/cpu/low_precision.h"

namespace nereid::kernels::NEREID_ISA {

// n numbers of any type as f32, zeros beyond.
inline simd::F32 load_low(LowType type, const std::byte* p, int n) {
  alignas(64) std::byte t[64] = {};
  if (n < 16) {
    std::memcpy(t, p, static_cast<size_t>(n * low_bytes(type)));
    p = t;
  }
  switch (type) {
    case LowType::kF32:
      return simd::load(reinterpret_cast<const float*>(p));
    case LowType::kBF16:
      return simd::load_bf16(reinterpret_cast<const uint16_t*>(p));
    case LowType::kU8:
      return simd::load_u8(reinterpret_cast<const uint8_t*>(p));
    case LowType::kS8:
      return simd::load_s8(reinterpret_cast<const int8_t*>(p));
  }
  return simd::zero();
}

// Codes are whole numbers by then.
inline void store_low(LowType type, std::byte* p, simd::F32 v, int n) {
  alignas(64) std::byte t[64];
  std::byte* to = n < 16 ? t : p;
  switch (type) {
    case LowType::kF32:
      simd::store(reinterpret_cast<float*>(to), v);
      break;
    case LowType::kBF16:
      simd::store_bf16(reinterpret_cast<uint16_t*>(to), v);
      break;
    case LowType::kU8:
      simd::store_u8(reinterpret_cast<uint8_t*>(to), simd::to_i32(v));
      break;
    case LowType::kS8:
      simd::store_i8(reinterpret_cast<int8_t*>(to), simd::to_i32(v));
      break;
  }
  if (n < 16) std::memcpy(p, t, static_cast<size_t>(n * low_bytes(type)));
}

// The number of the nearest code, as the layer before the residual would have stored it.
[[gnu::always_inline]] inline simd::F32 on_grid(const LowEpilogue& e, simd::F32 v) {
  using namespace simd;
  v = simd::round(mul(v, set1(e.sum_inverse_scale)));
  v = simd::max(v, set1(static_cast<float>(e.sum_low - e.sum_zero)));
  v = simd::min(v, set1(static_cast<float>(e.sum_high - e.sum_zero)));
  return mul(v, set1(e.sum_scale));
}

// 16 columns (n of them real) from f32 sums that are scaled and have their bias, to row `row`, column `column`.
[[gnu::always_inline]] inline void put_low(const LowEpilogue& e, simd::F32 v, int64_t row, int64_t column, int n,
                                           std::byte* y, int64_t y_stride) {
  using namespace simd;
  F32 late = zero();
  if (e.residual) {
    const auto* r =
        static_cast<const std::byte*>(e.residual) + (row * e.residual_stride + column) * low_bytes(e.residual_type);
    late = load_low(e.residual_type, r, n);
    if (low_is_int8(e.residual_type))
      late = mul(sub(late, set1(static_cast<float>(e.residual_zero))), set1(e.residual_scale));
    if (!e.residual_last) v = simd::add(e.sum_scale != 0 ? on_grid(e, v) : v, late);
  }
  v = e.act == Act::kNone ? v : e.act == Act::kRelu ? simd::max(zero(), v) : activate(e.act, e.alpha, e.beta, v);
  if (e.act_scale != 1.0f || e.act_shift != 0.0f) v = simd::fma(v, set1(e.act_scale), set1(e.act_shift));
  if (e.residual && e.residual_last) v = simd::add(e.sum_scale != 0 ? on_grid(e, v) : v, late);
  if (low_is_int8(e.y_type)) {
    // Kept where to_i32 is exact; NaN becomes the lowest code.
    v = simd::add(simd::round(mul(v, set1(e.y_inverse_scale))), set1(static_cast<float>(e.y_zero)));
    v = simd::min(simd::max(v, set1(-1000.0f)), set1(1000.0f));
  }
  store_low(e.y_type, y + (row * y_stride + column) * low_bytes(e.y_type), v, n);
}

// The common case, without residual and with no activation or relu: 16 whole columns of a tile. `sum(i)` gives row i's.
template <LowType kType, typename Sum>
[[gnu::always_inline]] inline void put_plain(const LowEpilogue& e, int64_t rows, std::byte* y, int64_t y_stride,
                                             Sum sum) {
  using namespace simd;
  const F32 low = set1(e.act == Act::kRelu ? 0.0f : -__builtin_huge_valf());
  const F32 factor = set1(e.y_inverse_scale), least = set1(-1000.0f), most = set1(1000.0f);
  const F32 zero_code = set1(static_cast<float>(e.y_zero));
  for (int64_t i = 0; i < rows; ++i, y += y_stride * low_bytes(kType)) {
    F32 v = simd::max(low, sum(i));
    if constexpr (low_is_int8(kType)) {
      v = simd::add(simd::round(mul(v, factor)), zero_code);
      v = simd::min(simd::max(v, least), most);
    }
    if constexpr (kType == LowType::kF32) store(reinterpret_cast<float*>(y), v);
    if constexpr (kType == LowType::kBF16) simd::store_bf16(reinterpret_cast<uint16_t*>(y), v);
    if constexpr (kType == LowType::kU8) store_u8(reinterpret_cast<uint8_t*>(y), to_i32(v));
    if constexpr (kType == LowType::kS8) store_i8(reinterpret_cast<int8_t*>(y), to_i32(v));
  }
}
template <typename Sum>
[[gnu::always_inline]] inline void put_plain_rows(const LowEpilogue& e, int64_t rows, std::byte* y, int64_t y_stride,
                                                  Sum sum) {
  switch (e.y_type) {
    case LowType::kF32:
      return put_plain<LowType::kF32>(e, rows, y, y_stride, sum);
    case LowType::kBF16:
      return put_plain<LowType::kBF16>(e, rows, y, y_stride, sum);
    case LowType::kU8:
      return put_plain<LowType::kU8>(e, rows, y, y_stride, sum);
    case LowType::kS8:
      return put_plain<LowType::kS8>(e, rows, y, y_stride, sum);
  }
}

// The other common case: 16 whole columns with a residual that is added before nothing or relu. As put_low, with what
// does not change from row to row kept in registers.
template <LowType kResidual, LowType kType, typename Sum>
[[gnu::always_inline]] inline void put_sum(const LowEpilogue& e, int64_t rows, int64_t row, int64_t column,
                                           std::byte* y, int64_t y_stride, Sum sum) {
  using namespace simd;
  const auto* r = static_cast<const std::byte*>(e.residual) + (row * e.residual_stride + column) * low_bytes(kResidual);
  y += (row * y_stride + column) * low_bytes(kType);
  const F32 low = set1(e.act == Act::kRelu ? 0.0f : -__builtin_huge_valf());
  const F32 factor = set1(e.y_inverse_scale), least = set1(-1000.0f), most = set1(1000.0f);
  const F32 zero_code = set1(static_cast<float>(e.y_zero));
  const F32 residual_zero = set1(static_cast<float>(e.residual_zero)), residual_scale = set1(e.residual_scale);
  const bool grid = e.sum_scale != 0;
  const F32 grid_factor = set1(e.sum_inverse_scale), grid_scale = set1(e.sum_scale);
  const F32 grid_low = set1(static_cast<float>(e.sum_low - e.sum_zero));
  const F32 grid_high = set1(static_cast<float>(e.sum_high - e.sum_zero));
  for (int64_t i = 0; i < rows; ++i) {
    F32 v = sum(i);
    if (grid) v = mul(simd::min(simd::max(simd::round(mul(v, grid_factor)), grid_low), grid_high), grid_scale);
    if constexpr (kResidual == LowType::kU8)
      v = simd::add(v, mul(sub(load_u8(reinterpret_cast<const uint8_t*>(r)), residual_zero), residual_scale));
    else
      v = simd::add(v, load(reinterpret_cast<const float*>(r)));
    v = simd::max(low, v);
    if constexpr (kType == LowType::kU8) {
      v = simd::add(simd::round(mul(v, factor)), zero_code);
      store_u8(reinterpret_cast<uint8_t*>(y), to_i32(simd::min(simd::max(v, least), most)));
    } else {
      store(reinterpret_cast<float*>(y), v);
    }
    r += e.residual_stride * low_bytes(kResidual);
    y += y_stride * low_bytes(kType);
  }
}
// False: there is no such loop for these types.
template <typename Sum>
[[gnu::always_inline]] inline bool put_sum_rows(const LowEpilogue& e, int64_t rows, int64_t row, int64_t column,
                                                std::byte* y, int64_t y_stride, Sum sum) {
  if (e.act != Act::kNone && e.residual_last) return false;
  const bool codes = e.residual_type == LowType::kU8, to_codes = e.y_type == LowType::kU8;
  if ((!codes && e.residual_type != LowType::kF32) || (!to_codes && e.y_type != LowType::kF32)) return false;
  if (codes && to_codes) put_sum<LowType::kU8, LowType::kU8>(e, rows, row, column, y, y_stride, sum);
  if (codes && !to_codes) put_sum<LowType::kU8, LowType::kF32>(e, rows, row, column, y, y_stride, sum);
  if (!codes && to_codes) put_sum<LowType::kF32, LowType::kU8>(e, rows, row, column, y, y_stride, sum);
  if (!codes && !to_codes) put_sum<LowType::kF32, LowType::kF32>(e, rows, row, column, y, y_stride, sum);
  return true;
}

// A tile's sums [rows][16 panels]; rows of y from `row` on, columns from `column` on.
template <bool kInt8>
[[gnu::noinline]] void finish_low_tile(const std::byte* sums, int64_t rows, int panels, const LowEpilogue& e,
                                       int64_t row, int64_t column, int64_t columns, std::byte* y, int64_t y_stride) {
  using namespace simd;
  for (int j = 0; j < panels; ++j) {
    const int64_t c = column + 16 * j;
    const int n = static_cast<int>(columns - 16 * j < 16 ? columns - 16 * j : 16);
    const F32 bias = !e.bias ? zero() : n == 16 ? load(e.bias + c) : load_partial(e.bias + c, n);
    F32 scale = zero();
    I32 offset = izero();
    if constexpr (kInt8) {
      scale = n == 16 ? load(e.scale + c) : load_partial(e.scale + c, n);
      if (e.column_offset) {
        alignas(64) int32_t t[16] = {};
        std::memcpy(t, e.column_offset + c, static_cast<size_t>(n) * 4);
        offset = load_i32(t);
      }
    }
    const auto sum = [&](int64_t i) __attribute__((always_inline)) {
      const std::byte* s = sums + (i * panels + j) * 64;
      if constexpr (kInt8)
        return simd::fma(to_f32(iadd(load_i32(reinterpret_cast<const int32_t*>(s)), offset)), scale, bias);
      else
        return simd::add(load(reinterpret_cast<const float*>(s)), bias);
    };
    const bool plain =
        n == 16 && (e.act == Act::kNone || e.act == Act::kRelu) && e.act_scale == 1.0f && e.act_shift == 0.0f;
    if (plain && !e.residual)
      put_plain_rows(e, rows, y + (row * y_stride + c) * low_bytes(e.y_type), y_stride, sum);
    else if (!(plain && e.residual && put_sum_rows(e, rows, row, c, y, y_stride, sum)))
      for (int64_t i = 0; i < rows; ++i) put_low(e, sum(i), row + i, c, n, y, y_stride);
  }
}

}  // namespace nereid::kernels::NEREID_ISA
