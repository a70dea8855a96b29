// SPDX-License-Identifier: Apache-2.0
// Owned, zeroed, 64-byte aligned memory straight from the kernel; large ones may ask for 2 MiB pages.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "base/status.h"

namespace nereid {

enum class PageSize {
  kDefault,
  kHuge
};  // kHuge: aligned to 2 MiB and madvise(MADV_HUGEPAGE); silently default where the kernel has none

class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer();

  // kExhausted, with the size asked for, when the system has no such memory.
  static Result<Buffer> allocate(size_t bytes, PageSize pages = PageSize::kDefault);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapping_, other.mapping_);
    std::swap(mapping_size_, other.mapping_size_);
  }
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  void* mapping_ = nullptr;  // what munmap needs; may start before data_
  size_t mapping_size_ = 0;
};

}  // namespace nereid
