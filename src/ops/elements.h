// SPDX-License-Identifier: Apache-2.0
// How evaluators read, compute with and write the elements of any plain dtype.
//
// An element is computed in its compute type: float for every float type below f32, double for f64, the type itself for
// integers of a byte or more, int8_t and uint8_t for i2, i4, u2, u4, bool for bool. `with_number(dtype, f)` calls
// f.template operator()<T>() with that type:
//
//   return with_number(x.dtype, [&]<typename T>() {
//     Elements<T> v = load<T>(x);
//     for (T& e : v) e = e * e;
//     return store<T>(y, v);
//   });
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

// A fixed number of elements; unlike std::vector it holds bool as bool.
template <typename T>
class Elements {
 public:
  Elements() = default;
  explicit Elements(int64_t n, T value = T()) : data_(new T[static_cast<size_t>(n)]), size_(n) {
    for (T& e : *this) e = value;
  }
  int64_t size() const { return size_; }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  T& operator[](int64_t i) { return data_[static_cast<size_t>(i)]; }
  const T& operator[](int64_t i) const { return data_[static_cast<size_t>(i)]; }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }
  operator std::span<const T>() const { return {data_.get(), static_cast<size_t>(size_)}; }

 private:
  std::unique_ptr<T[]> data_;
  int64_t size_ = 0;
};

// All elements of a plain tensor (not string) converted to T as C++ converts numbers; from floats to integers rounding
// towards zero and saturating. T: float, double, int8_t...uint64_t, bool, std::complex<float|double>.
template <typename T>
Elements<T> load(const ConstTensorView& src);

// The reverse: rounds to nearest even where dst is a narrower float, wraps where it is a narrower integer. As many
// values as dst has elements (checked). Always ok: a Status so that evaluators can return it.
template <typename T>
Status store(const TensorView& dst, std::span<const T> values);
template <typename T>
Status store(const TensorView& dst, const Elements<T>& values) {
  return store<T>(dst, std::span<const T>(values));
}

// Copies elements between tensors of one dtype, whatever it is (strings, types of less than a byte).
void copy_elements(const TensorView& dst, int64_t dst_index, const ConstTensorView& src, int64_t src_index,
                   int64_t count);

// "the op does not take elements of type X": what the dispatchers below return for types they do not cover.
Status no_such_elements(DType dtype);

template <typename F>
Status with_float(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2fnuz:
    case DType::f8e8m0:
    case DType::f4e2m1:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    default:
      return no_such_elements(dtype);
  }
}

template <typename F>
Status with_integer(DType dtype, F&& f) {
  switch (dtype) {
    case DType::i2:
    case DType::i4:
    case DType::i8:
      return f.template operator()<int8_t>();
    case DType::u2:
    case DType::u4:
    case DType::u8:
      return f.template operator()<uint8_t>();
    case DType::i16:
      return f.template operator()<int16_t>();
    case DType::i32:
      return f.template operator()<int32_t>();
    case DType::i64:
      return f.template operator()<int64_t>();
    case DType::u16:
      return f.template operator()<uint16_t>();
    case DType::u32:
      return f.template operator()<uint32_t>();
    case DType::u64:
      return f.template operator()<uint64_t>();
    default:
      return no_such_elements(dtype);
  }
}

// Floats and integers.
template <typename F>
Status with_number(DType dtype, F&& f) {
  return dtype_info(dtype).kind == DTypeInfo::Kind::kFloat ? with_float(dtype, f) : with_integer(dtype, f);
}

// Floats, integers and bool.
template <typename F>
Status with_element(DType dtype, F&& f) {
  if (dtype == DType::boolean) return f.template operator()<bool>();
  return with_number(dtype, f);
}

}  // namespace nereid::ops
