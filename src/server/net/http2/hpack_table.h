// SPDX-License-Identifier: Apache-2.0
// The tables that compressed headers point into (RFC 7541, sections 2.3 and 4).
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::server::net::http2 {

inline constexpr size_t kStaticHeaders = 61;
inline constexpr size_t kFirstTableBytes = 4096;

struct HeaderView {
  std::string_view name, value;
};

// `index` is from 1 to kStaticHeaders.
HeaderView static_header(size_t index);

// The entries of one direction of a connection, the newest first.
class DynamicTable {
 public:
  void add(std::string_view name, std::string_view value);
  void set_most_bytes(size_t bytes);
  // Of both tables, as the wire counts them; nothing: there is none. Until the table changes.
  std::optional<HeaderView> at(size_t index) const;
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string name, value;
  };
  void shrink(size_t bytes);
  std::deque<Entry> entries_;
  size_t bytes_ = 0, most_bytes_ = kFirstTableBytes;
};

}  // namespace nereid::server::net::http2
