// SPDX-License-Identifier: Apache-2.0
// What the C++ layer (nereid.hpp) passes around: errors as values, and tensors in memory of somebody else's.
#ifndef NEREID_VALUES_HPP
#define NEREID_VALUES_HPP

#include <nereid/nereid.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nereid {
inline namespace v1 {

class Error : public std::runtime_error {
 public:
  Error(nereid_status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  nereid_status code() const noexcept { return code_; }

 private:
  nereid_status code_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(nereid_status code, std::string message) : code_(code), message_(std::move(message)) {}
  // Of a call that was made just now on this thread.
  static Status of(nereid_status code) { return code == NEREID_OK ? Status() : Status(code, nereid_last_error()); }

  bool ok() const noexcept { return code_ == NEREID_OK; }
  explicit operator bool() const noexcept { return ok(); }
  nereid_status code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }  // a sentence; empty when ok
  void or_throw() const {
    if (!ok()) throw Error(code_, message_);
  }

 private:
  nereid_status code_ = NEREID_OK;
  std::string message_;
};

// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  const Status& status() const noexcept { return status_; }
  // Only when ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  T value_or_throw() && {
    if (!ok()) throw Error(status_.code(), status_.message());
    return std::move(*value_);
  }
  T& value_or_throw() & {
    if (!ok()) throw Error(status_.code(), status_.message());
    return *value_;
  }

 private:
  Status status_;
  std::unique_ptr<T> value_;
};

// The element type of a C++ type; others say theirs themselves.
template <typename T>
struct DtypeOf;
template <nereid_dtype D>
struct DtypeIs {
  static constexpr nereid_dtype value = D;
};
// clang-format off
template <> struct DtypeOf<float> : DtypeIs<NEREID_F32> {};
template <> struct DtypeOf<double> : DtypeIs<NEREID_F64> {};
template <> struct DtypeOf<std::int8_t> : DtypeIs<NEREID_I8> {};
template <> struct DtypeOf<std::int16_t> : DtypeIs<NEREID_I16> {};
template <> struct DtypeOf<std::int32_t> : DtypeIs<NEREID_I32> {};
template <> struct DtypeOf<std::int64_t> : DtypeIs<NEREID_I64> {};
template <> struct DtypeOf<std::uint8_t> : DtypeIs<NEREID_U8> {};
template <> struct DtypeOf<std::uint16_t> : DtypeIs<NEREID_U16> {};
template <> struct DtypeOf<std::uint32_t> : DtypeIs<NEREID_U32> {};
template <> struct DtypeOf<std::uint64_t> : DtypeIs<NEREID_U64> {};
template <> struct DtypeOf<bool> : DtypeIs<NEREID_BOOL> {};
template <> struct DtypeOf<nereid_string> : DtypeIs<NEREID_STRING> {};
// clang-format on

// A tensor in memory of somebody else's, rows contiguous. Its sizes are its own.
class View {
 public:
  View() = default;
  View(const void* data, nereid_dtype dtype, std::vector<std::int64_t> sizes)
      : data_(data), dtype_(dtype), sizes_(std::move(sizes)) {}
  template <typename T>
  View(const T* data, std::vector<std::int64_t> sizes) : View(data, DtypeOf<T>::value, std::move(sizes)) {}
  // As many elements as `sizes` say: the caller's to see to.
  template <typename T>
  View(const std::vector<T>& values, std::vector<std::int64_t> sizes) : View(values.data(), std::move(sizes)) {
    static_assert(!std::is_same_v<T, bool>, "a vector of bool has no elements of its own; use one of uint8_t");
  }
  explicit View(const nereid_tensor& t) : View(t.data, t.dtype, std::vector<std::int64_t>(t.dims, t.dims + t.rank)) {}

  const void* data() const noexcept { return data_; }
  nereid_dtype dtype() const noexcept { return dtype_; }
  const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  std::size_t size() const noexcept {  // elements
    std::int64_t n = 1;
    for (const std::int64_t s : sizes_) n *= s;
    return static_cast<std::size_t>(n);
  }
  bool empty() const noexcept { return size() == 0; }
  // The elements, if that is their type; else an Error.
  template <typename T>
  const T* as() const {
    if (DtypeOf<T>::value != dtype_)
      throw Error(NEREID_INVALID_ARGUMENT, std::string("the elements are ") + nereid_dtype_name(dtype_) + ", not " +
                                               nereid_dtype_name(DtypeOf<T>::value));
    return static_cast<const T*>(data_);
  }
  template <typename T>
  std::vector<T> to_vector() const {
    const T* first = as<T>();
    return first == nullptr ? std::vector<T>() : std::vector<T>(first, first + size());
  }
  nereid_tensor c_tensor() const noexcept {
    return {data_, dtype_, static_cast<std::int32_t>(sizes_.size()), sizes_.data()};
  }

 private:
  const void* data_ = nullptr;
  nereid_dtype dtype_ = NEREID_DTYPE_NONE;
  std::vector<std::int64_t> sizes_;
};

}  // namespace v1
}  // namespace nereid

#endif  // NEREID_VALUES_HPP
