// SPDX-License-Identifier: Apache-2.0
// Evaluators that gain nothing from computing in the element type itself compute in the widest of its kind: double for
// floats, int64_t for signed integers and bool, uint64_t for unsigned ones. Three instantiations serve every dtype.
#pragma once

#include <type_traits>

#include "ops/elements.h"

namespace nereid::ops {

inline bool is_unsigned(DType d) {
  return d == DType::u2 || d == DType::u4 || d == DType::u8 || d == DType::u16 || d == DType::u32 || d == DType::u64;
}

template <typename F>
Status with_wide(DType dtype, F&& f) {
  if (is_float(dtype)) return f.template operator()<double>();
  if (is_unsigned(dtype)) return f.template operator()<uint64_t>();
  if (is_integer(dtype) || dtype == DType::boolean) return f.template operator()<int64_t>();
  return no_such_elements(dtype);
}

// Sums and products that wrap, as stored integers do.
template <typename T>
T wide_add(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  return a + b;
}
template <typename T>
T wide_multiply(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  return a * b;
}

}  // namespace nereid::ops
