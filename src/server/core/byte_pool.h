// SPDX-License-Identifier: Apache-2.0
// Long strings of bytes that are used again: fresh memory of a megabyte costs the system more (pages to clear and to
// map) than a tensor's whole way through the server.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace nereid::server {

// Thread-safe. Held by whoever shares its strings, so it may be let go of before they are.
class BytePool : public std::enable_shared_from_this<BytePool> {
 public:
  static constexpr size_t kLeast = size_t{64} << 10;      // of a string that is worth keeping
  static constexpr size_t kMost = size_t{8} << 20;        // longer ones are given back to the system
  static constexpr size_t kMostInAll = size_t{96} << 20;  // kept while nobody uses them

  // A string with room for so many bytes, at most kMost of them; what it holds and how long it is means nothing.
  std::string take(size_t bytes);
  // The string for any number of holders; after the last of them it is kept.
  std::shared_ptr<const std::string> share(std::string&& bytes);
  void give(std::string&& bytes);
  void clear();
  size_t kept_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> kept_;  // the last is the one most likely to be in a cache
  size_t kept_bytes_ = 0;
};

}  // namespace nereid::server
