// SPDX-License-Identifier: Apache-2.0
// A whole file as read-only memory: weights are read from the page cache, without a copy, and shared by processes.
//
// The mapping keeps the file's content alive after the file is renamed or removed, so replacing a model by
// write-beside-and-rename (AtomicFile) is safe. A process that truncates the file in place while it is mapped is not:
// touching a page past the new end raises SIGBUS, which ends this process, and bytes changed in place show through.
// Nereid never writes a file in place for that reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace nereid {

// Movable; views into it stay valid across a move. Reading from many threads is fine.
class MappedFile {
 public:
  // kNotFound when absent; kInvalidArgument for a folder, a device or a file that may not be read;
  // kExhausted when the address space or the descriptors are used up. An empty file gives an empty span.
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    MappedFile(std::move(other)).swap(*this);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  std::string_view text() const { return {static_cast<const char*>(data_), size_}; }
  size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  // Hints to the kernel; both are free to have no effect.
  void advise_sequential() const;                      // the whole file, front to back
  void will_need(size_t offset, size_t length) const;  // start reading this part from disk now; clipped to the file

 private:
  void swap(MappedFile& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    path_.swap(other.path_);
  }
  void* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

}  // namespace nereid
