// SPDX-License-Identifier: Apache-2.0
// Pages of keys and values that had to leave the cache, kept until they are wanted again.
//
// On a CPU the cache lies in the same memory that "host memory" would be, so what leaves goes to a file without a name:
// the system keeps it in memory as long as there is some to spare and on the disk otherwise, it counts against nobody,
// and it is gone with the process. Reading a page back takes a millisecond where computing it takes tens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid::llm {

// One thread at a time.
class HostPages {
 public:
  // All its room is taken at once, so that no disk is full later. "": the system's folder of temporary files.
  // kExhausted: the folder's disk has not so much; kNotFound: there is no such folder.
  static Result<std::unique_ptr<HostPages>> make(const std::string& folder, int64_t places, int64_t page_bytes);

  int64_t places() const { return static_cast<int64_t>(hashes_.size()); }
  // page_bytes each. kInternal: the disk fails, or a page comes back other than it was written.
  Status write(int32_t place, std::span<const std::byte> page);
  Status read(int32_t place, std::span<std::byte> page) const;
  int descriptor() const { return fd_.get(); }

 private:
  HostPages(UniqueFd fd, int64_t places, int64_t page_bytes)
      : fd_(std::move(fd)), page_bytes_(page_bytes), hashes_(static_cast<size_t>(places)) {}

  UniqueFd fd_;
  int64_t page_bytes_;
  std::vector<uint64_t> hashes_;  // of what lies in each place
};

}  // namespace nereid::llm
