// SPDX-License-Identifier: Apache-2.0
// What is kept within a number of bytes, and what goes when more comes: the entry that was not asked for the longest.
// It knows names and sizes only; whoever keeps the things themselves does what it says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nereid::server {

class LruLedger {
 public:
  explicit LruLedger(size_t capacity_bytes) : capacity_(capacity_bytes) {}

  struct Insertion {
    bool is_kept = false;              // false: larger than all there is room for
    std::vector<std::string> evicted;  // had to go, oldest first
  };
  // One of the same name is replaced.
  Insertion insert(const std::string& name, size_t bytes);
  // Asked for just now. False: it is not there.
  bool touch(std::string_view name);

  size_t entries() const { return index_.size(); }
  size_t bytes() const { return bytes_; }
  size_t capacity() const { return capacity_; }

 private:
  struct Entry {
    std::string name;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;
  void erase(Entries::iterator entry);

  const size_t capacity_;
  size_t bytes_ = 0;
  Entries entries_;                                                // the one asked for last comes first
  std::unordered_map<std::string_view, Entries::iterator> index_;  // names lie in entries_
};

}  // namespace nereid::server
