// SPDX-License-Identifier: Apache-2.0
// Memory that clients of the same machine share with the server (POSIX shared memory), by the names they register it
// under: tensors lie there instead of in requests and responses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/unique_fd.h"

namespace nereid::server {

struct SharedRegion {
  std::string name, key;  // key: of the object, "/name"
  uint64_t offset = 0, bytes = 0;
};

// Thread-safe. Bytes are read and written by system calls, not through a mapping: a client that makes its object
// smaller meanwhile gets an error, and does not end the server.
class SharedMemory {
 public:
  // `is_allowed` false: nothing may be registered or used (kUnsupported).
  explicit SharedMemory(bool is_allowed) : is_allowed_(is_allowed) {}

  // kInvalidArgument: the name is taken, or the object is smaller; kInternal: there is no such object.
  Status add(const SharedRegion& region);
  // A name that is not there is none to let go of.
  Status remove(const std::string& name);
  Status remove_all();
  // All regions for "". kNotFound: there is none of that name.
  Result<std::vector<SharedRegion>> list(const std::string& name) const;

  // kNotFound: no such region; kInvalidArgument: not all of the part is in it.
  Result<std::string> read(const std::string& name, uint64_t offset, uint64_t bytes) const;
  Status write(const std::string& name, uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  struct Opened {
    SharedRegion region;
    std::shared_ptr<const UniqueFd> fd;
  };
  Result<Opened> find(const std::string& name, uint64_t offset, uint64_t bytes) const;
  Status check_allowed() const;

  const bool is_allowed_;
  mutable std::mutex mutex_;
  std::map<std::string, Opened> regions_;
};

}  // namespace nereid::server
