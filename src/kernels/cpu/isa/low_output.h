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

// Sums of one column panel as the common cases want them: whole, and one multiplication away from what they become.
struct LowPanel {
  simd::I32 offset;
  simd::F32 scale, bias;
};
template <bool kInt8>
[[gnu::always_inline]] inline simd::F32 panel_sum(const LowPanel& p, const std::byte* s) {
  if constexpr (kInt8)
    return simd::fma(simd::to_f32(simd::iadd(simd::load_i32(reinterpret_cast<const int32_t*>(s)), p.offset)), p.scale,
                     p.bias);
  else
    return simd::fma(simd::load(reinterpret_cast<const float*>(s)), p.scale, p.bias);
}

// What no activation, relu and clip keep a number within, and codes besides, in which to_i32 is exact.
struct LowBounds {
  simd::F32 low, high;
};
template <LowType kType>
[[gnu::always_inline]] inline LowBounds bounds_of(const LowEpilogue& e) {
  constexpr float kMost = low_is_int8(kType) ? 1000.0f : __builtin_huge_valf();
  const float unit = low_is_int8(kType) ? e.y_inverse_scale : 1.0f;
  float low = -kMost, high = kMost;
  if (e.act == Act::kRelu) low = 0.0f;
  if (e.act == Act::kClip) {
    low = e.alpha * unit > low ? e.alpha * unit : low;
    high = e.beta * unit < high ? e.beta * unit : high;
  }
  return {simd::set1(low), simd::set1(high)};
}

// A number in units of the result's scale, less its zero point, or as it is.
template <LowType kType>
[[gnu::always_inline]] inline void put_bounded(std::byte* y, simd::F32 v, const LowBounds& bounds, simd::I32 zero) {
  using namespace simd;
  // The second operand wins where one is NaN: which stays NaN as a number, and must not as a code.
  if constexpr (low_is_int8(kType))
    v = simd::min(simd::max(v, bounds.low), bounds.high);
  else
    v = simd::min(bounds.high, simd::max(bounds.low, v));
  if constexpr (kType == LowType::kF32) store(reinterpret_cast<float*>(y), v);
  if constexpr (kType == LowType::kBF16) simd::store_bf16(reinterpret_cast<uint16_t*>(y), v);
  if constexpr (kType == LowType::kU8) store_u8(reinterpret_cast<uint8_t*>(y), iadd(to_i32(v), zero));
  if constexpr (kType == LowType::kS8) store_i8(reinterpret_cast<int8_t*>(y), iadd(to_i32(v), zero));
}

// Codes of type u8 whose lower bound is what the type cannot go below: one comparison less. NaN becomes the lowest
// code.
struct CodeBounds {
  simd::F32 high;
  simd::I32 zero;
};
inline bool is_bounded_above(const LowEpilogue& e) {
  const float low = e.act == Act::kRelu ? 0.0f : e.act == Act::kClip ? e.alpha * e.y_inverse_scale : -1000.0f;
  return low + static_cast<float>(e.y_zero) <= 0.0f;
}
[[gnu::always_inline]] inline CodeBounds code_bounds(const LowEpilogue& e) {
  return {bounds_of<LowType::kU8>(e).high, simd::iset1(e.y_zero)};
}
[[gnu::always_inline]] inline void put_code(const CodeBounds& b, std::byte* y, simd::F32 v) {
  using namespace simd;
  store_u8(reinterpret_cast<uint8_t*>(y), iadd(to_i32(simd::min(b.high, v)), b.zero));
}

// A sum on its grid and a residual of codes, in units of the result's scale.
struct CodeSum {
  simd::F32 low, high, scale, r_scale, r_zero;
};
[[gnu::always_inline]] inline CodeSum code_sum(const LowEpilogue& e, float unit) {
  using namespace simd;
  const float r_unit = e.residual_scale * unit;
  return {set1(static_cast<float>(e.sum_low - e.sum_zero)), set1(static_cast<float>(e.sum_high - e.sum_zero)),
          set1(e.sum_scale * unit), set1(r_unit), set1(static_cast<float>(-e.residual_zero) * r_unit)};
}
[[gnu::always_inline]] inline simd::F32 add_code(const CodeSum& c, simd::F32 v, simd::F32 code) {
  using namespace simd;
  v = simd::min(simd::max(simd::round(v), c.low), c.high);
  return simd::fma(v, c.scale, simd::fma(code, c.r_scale, c.r_zero));
}

// The common case, without residual: 16 whole columns of a tile, `step` bytes between a row's sums and the next.
template <bool kInt8, LowType kType>
[[gnu::always_inline]] inline void put_plain(const LowEpilogue& e, LowPanel p, const std::byte* sums, int64_t step,
                                             int64_t rows, std::byte* y, int64_t y_stride) {
  using namespace simd;
  const I32 zero = iset1(e.y_zero);
  const LowBounds bounds = bounds_of<kType>(e);
  if constexpr (low_is_int8(kType)) {
    p.scale = mul(p.scale, set1(e.y_inverse_scale));
    p.bias = mul(p.bias, set1(e.y_inverse_scale));
  }
  if constexpr (kType == LowType::kU8)
    if (is_bounded_above(e)) {
      const CodeBounds code = code_bounds(e);
      for (int64_t i = 0; i < rows; ++i, y += y_stride, sums += step) put_code(code, y, panel_sum<kInt8>(p, sums));
      return;
    }
  for (int64_t i = 0; i < rows; ++i, y += y_stride * low_bytes(kType), sums += step)
    put_bounded<kType>(y, panel_sum<kInt8>(p, sums), bounds, zero);
}
template <bool kInt8>
[[gnu::always_inline]] inline void put_plain_rows(const LowEpilogue& e, const LowPanel& p, const std::byte* sums,
                                                  int64_t step, int64_t rows, std::byte* y, int64_t y_stride) {
  switch (e.y_type) {
    case LowType::kF32:
      return put_plain<kInt8, LowType::kF32>(e, p, sums, step, rows, y, y_stride);
    case LowType::kBF16:
      return put_plain<kInt8, LowType::kBF16>(e, p, sums, step, rows, y, y_stride);
    case LowType::kU8:
      return put_plain<kInt8, LowType::kU8>(e, p, sums, step, rows, y, y_stride);
    case LowType::kS8:
      return put_plain<kInt8, LowType::kS8>(e, p, sums, step, rows, y, y_stride);
  }
}

// The other common case: 16 whole columns with a residual that is added before the activation. Everything is in units
// of the result's scale, or first in those of the grid, so that each step is one multiplication and addition.
template <LowType kResidual, LowType kType>
[[gnu::always_inline]] inline void put_sum(const LowEpilogue& e, LowPanel p, const std::byte* sums, int64_t step,
                                           int64_t rows, const std::byte* r, std::byte* y, int64_t y_stride) {
  using namespace simd;
  const float unit = kType == LowType::kU8 ? e.y_inverse_scale : 1.0f;
  const bool grid = e.sum_scale != 0;
  const float first = grid ? e.sum_inverse_scale : unit, second = e.sum_scale * unit;
  p.scale = mul(p.scale, set1(first));
  p.bias = mul(p.bias, set1(first));
  const F32 grid_scale = set1(second);
  const F32 grid_low = set1(static_cast<float>(e.sum_low - e.sum_zero));
  const F32 grid_high = set1(static_cast<float>(e.sum_high - e.sum_zero));
  const CodeSum sum = code_sum(e, unit);
  const I32 zero = iset1(e.y_zero);
  const LowBounds bounds = bounds_of<kType>(e);
  for (int64_t i = 0; i < rows; ++i, sums += step) {
    F32 v = panel_sum<true>(p, sums);
    if constexpr (kResidual == LowType::kU8) {
      const F32 code = load_u8(reinterpret_cast<const uint8_t*>(r));
      v = grid ? add_code(sum, v, code) : simd::add(v, simd::fma(code, sum.r_scale, sum.r_zero));
    } else {
      if (grid) v = mul(simd::min(simd::max(simd::round(v), grid_low), grid_high), grid_scale);
      v = simd::fma(load(reinterpret_cast<const float*>(r)), set1(unit), v);
    }
    put_bounded<kType>(y, v, bounds, zero);
    r += e.residual_stride * low_bytes(kResidual);
    y += y_stride * low_bytes(kType);
  }
}
[[gnu::always_inline]] inline void put_sum_rows(const LowEpilogue& e, const LowPanel& p, const std::byte* sums,
                                                int64_t step, int64_t rows, const std::byte* r, std::byte* y,
                                                int64_t y_stride) {
  const bool codes = e.residual_type == LowType::kU8, to_codes = e.y_type == LowType::kU8;
  if (codes && to_codes) put_sum<LowType::kU8, LowType::kU8>(e, p, sums, step, rows, r, y, y_stride);
  if (codes && !to_codes) put_sum<LowType::kU8, LowType::kF32>(e, p, sums, step, rows, r, y, y_stride);
  if (!codes && to_codes) put_sum<LowType::kF32, LowType::kU8>(e, p, sums, step, rows, r, y, y_stride);
  if (!codes && !to_codes) put_sum<LowType::kF32, LowType::kF32>(e, p, sums, step, rows, r, y, y_stride);
}
// Sums of bf16 products with a residual, numbers both of them.
template <LowType kResidual, LowType kType>
[[gnu::always_inline]] inline void put_number_sum(const LowEpilogue& e, const LowPanel& p, const std::byte* sums,
                                                  int64_t step, int64_t rows, const std::byte* r, std::byte* y,
                                                  int64_t y_stride) {
  using namespace simd;
  const LowBounds bounds = bounds_of<kType>(e);
  for (int64_t i = 0; i < rows; ++i, sums += step) {
    const F32 late = kResidual == LowType::kF32 ? load(reinterpret_cast<const float*>(r))
                                                : simd::load_bf16(reinterpret_cast<const uint16_t*>(r));
    put_bounded<kType>(y, simd::add(panel_sum<false>(p, sums), late), bounds, izero());
    r += e.residual_stride * low_bytes(kResidual);
    y += y_stride * low_bytes(kType);
  }
}
[[gnu::always_inline]] inline void put_number_sum_rows(const LowEpilogue& e, const LowPanel& p, const std::byte* sums,
                                                       int64_t step, int64_t rows, const std::byte* r, std::byte* y,
                                                       int64_t y_stride) {
  constexpr LowType kF32 = LowType::kF32, kBF16 = LowType::kBF16;
  const bool from = e.residual_type == kBF16, to = e.y_type == kBF16;
  if (from && to) put_number_sum<kBF16, kBF16>(e, p, sums, step, rows, r, y, y_stride);
  if (from && !to) put_number_sum<kBF16, kF32>(e, p, sums, step, rows, r, y, y_stride);
  if (!from && to) put_number_sum<kF32, kBF16>(e, p, sums, step, rows, r, y, y_stride);
  if (!from && !to) put_number_sum<kF32, kF32>(e, p, sums, step, rows, r, y, y_stride);
}
// What text encoders have between two products: numbers after gelu. One call an element group costs as much as gelu.
template <bool kInt8>
[[gnu::noinline, gnu::flatten]] void put_gelu_rows(const LowPanel& p, const std::byte* sums, int64_t step, int64_t rows,
                                                   std::byte* y, int64_t y_stride) {
  for (int64_t i = 0; i < rows; ++i, sums += step, y += 4 * y_stride)
    simd::store(reinterpret_cast<float*>(y), gelu(panel_sum<kInt8>(p, sums)));
}
inline bool is_gelu(const LowEpilogue& e) {
  return e.act == Act::kGelu && !e.residual && e.y_type == LowType::kF32 && e.act_scale == 1.0f && e.act_shift == 0.0f;
}

// Whether bounds are all that the activation does.
inline bool is_plain(const LowEpilogue& e) {
  return (e.act == Act::kNone || e.act == Act::kRelu || e.act == Act::kClip) && e.act_scale == 1.0f &&
         e.act_shift == 0.0f;
}
// Whether put_sum_rows has the types.
inline bool is_plain_sum(const LowEpilogue& e) {
  const bool from = e.residual_type == LowType::kU8 || e.residual_type == LowType::kF32;
  const bool to = e.y_type == LowType::kU8 || e.y_type == LowType::kF32;
  return from && to && (e.act == Act::kNone || !e.residual_last);
}

// Whether put_number_sum_rows has the types and the order.
inline bool is_number_sum(const LowEpilogue& e) {
  return !low_is_int8(e.residual_type) && !low_is_int8(e.y_type) && e.sum_scale == 0 &&
         (e.act == Act::kNone || !e.residual_last);
}

// A tile's sums [rows][16 panels]; rows of y from `row` on, columns from `column` on.
template <bool kInt8>
[[gnu::noinline]] void finish_low_tile(const std::byte* sums, int64_t rows, int panels, const LowEpilogue& e,
                                       int64_t row, int64_t column, int64_t columns, std::byte* y, int64_t y_stride) {
  using namespace simd;
  const bool plain = is_plain(e);
  for (int j = 0; j < panels; ++j) {
    const int64_t c = column + 16 * j;
    const int n = static_cast<int>(columns - 16 * j < 16 ? columns - 16 * j : 16);
    LowPanel p{izero(), set1(1.0f), !e.bias ? zero() : n == 16 ? load(e.bias + c) : load_partial(e.bias + c, n)};
    if constexpr (kInt8) {
      p.scale = n == 16 ? load(e.scale + c) : load_partial(e.scale + c, n);
      if (e.column_offset) {
        alignas(64) int32_t t[16] = {};
        std::memcpy(t, e.column_offset + c, static_cast<size_t>(n) * 4);
        p.offset = load_i32(t);
      }
    }
    const std::byte* s = sums + j * 64;
    const int64_t step = panels * 64;
    std::byte* to = y + (row * y_stride + c) * low_bytes(e.y_type);
    if (n == 16 && plain && !e.residual) {
      put_plain_rows<kInt8>(e, p, s, step, rows, to, y_stride);
      continue;
    }
    if (n == 16 && is_gelu(e)) {
      put_gelu_rows<kInt8>(p, s, step, rows, to, y_stride);
      continue;
    }
    if constexpr (kInt8)
      if (n == 16 && plain && is_plain_sum(e)) {
        const auto* r =
            static_cast<const std::byte*>(e.residual) + (row * e.residual_stride + c) * low_bytes(e.residual_type);
        put_sum_rows(e, p, s, step, rows, r, to, y_stride);
        continue;
      }
    if constexpr (!kInt8)
      if (n == 16 && plain && is_number_sum(e)) {
        const auto* r =
            static_cast<const std::byte*>(e.residual) + (row * e.residual_stride + c) * low_bytes(e.residual_type);
        put_number_sum_rows(e, p, s, step, rows, r, to, y_stride);
        continue;
      }
    for (int64_t i = 0; i < rows; ++i, s += step) put_low(e, panel_sum<kInt8>(p, s), row + i, c, n, y, y_stride);
  }
  if (e.map)
    e.map_codes(e.map, y + row * y_stride + column, y_stride, rows, columns < 16 * panels ? columns : 16 * panels);
}

}  // namespace nereid::kernels::NEREID_ISA
