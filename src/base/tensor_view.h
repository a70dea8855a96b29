// SPDX-License-Identifier: Apache-2.0
// A tensor somebody else owns: a pointer, an element type and sizes, rows contiguous (row-major).
// Block formats run along the last dimension: a row is sizes.back() / block_elements blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/dtype.h"

namespace nereid {

struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;

  int rank() const { return static_cast<int>(sizes.size()); }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
  int64_t bytes() const { return *dtype_bytes(dtype, elements()); }
  // Rows of the last dimension.
  int64_t rows() const { return sizes.empty() ? 1 : (sizes.back() == 0 ? 0 : elements() / sizes.back()); }
  int64_t row_elements() const { return sizes.empty() ? 1 : sizes.back(); }

  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
  template <typename T>
  std::span<T> span() const {
    NEREID_DCHECK(dtype_info(dtype).block_bytes == sizeof(T));
    return {static_cast<T*>(data), static_cast<size_t>(elements())};
  }
};

// The same, read only: weights in a mapped file, inputs.
struct ConstTensorView {
  const void* data = nullptr;
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;

  ConstTensorView() = default;
  ConstTensorView(const void* d, DType t, std::vector<int64_t> s) : data(d), dtype(t), sizes(std::move(s)) {}
  ConstTensorView(const TensorView& v) : data(v.data), dtype(v.dtype), sizes(v.sizes) {}

  int rank() const { return static_cast<int>(sizes.size()); }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    return n;
  }
  int64_t bytes() const { return *dtype_bytes(dtype, elements()); }
  int64_t rows() const { return sizes.empty() ? 1 : (sizes.back() == 0 ? 0 : elements() / sizes.back()); }
  int64_t row_elements() const { return sizes.empty() ? 1 : sizes.back(); }
  template <typename T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
  template <typename T>
  std::span<const T> span() const {
    NEREID_DCHECK(dtype_info(dtype).block_bytes == sizeof(T));
    return {static_cast<const T*>(data), static_cast<size_t>(elements())};
  }
};

}  // namespace nereid
