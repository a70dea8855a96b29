// SPDX-License-Identifier: Apache-2.0
// Typed key-value metadata of a model file: what a GGUF header or an engine's header holds.
//
// Strings are views into the memory the metadata was read from (a mapped file, an engine section) unless they were
// added with own(); whoever holds a Metadata keeps that memory alive (see MappedFile). Arrays of strings are flat
// vectors of views, so a vocabulary of 256k tokens costs 4 MiB and no copies.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace nereid {

using MetaValue = std::variant<bool, int64_t, double, std::string_view,  //
                               std::vector<int64_t>, std::vector<double>, std::vector<std::string_view>>;

// Move-only: a copy's views would point into the strings that the original owns.
class Metadata {
 public:
  Metadata() = default;
  Metadata(Metadata&&) = default;
  Metadata& operator=(Metadata&&) = default;

  // Adds a pair at the end (key and strings stay views: own() what does not live long enough); a key that is there
  // already is an error (kInvalidArgument).
  Status add(std::string_view key, MetaValue value);
  // Keeps a copy of `text` alive as long as this object and gives the view of it.
  std::string_view own(std::string text);

  const MetaValue* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // Pairs in file order.
  const std::vector<std::pair<std::string_view, MetaValue>>& entries() const { return entries_; }

  // Typed access. get_* : kNotFound if absent, kInvalidArgument if of another type; the sentence names the key.
  Result<int64_t> get_int(std::string_view key) const;
  Result<double> get_float(std::string_view key) const;  // an integer is taken too
  Result<std::string_view> get_string(std::string_view key) const;
  Result<bool> get_bool(std::string_view key) const;
  // The value, or `fallback` if the key is absent or of another type.
  int64_t int_or(std::string_view key, int64_t fallback) const;
  double float_or(std::string_view key, double fallback) const;
  std::string_view string_or(std::string_view key, std::string_view fallback) const;
  bool bool_or(std::string_view key, bool fallback) const;
  // The array, or nullptr if absent or of another type.
  const std::vector<int64_t>* ints(std::string_view key) const;
  const std::vector<double>* floats(std::string_view key) const;
  const std::vector<std::string_view>* strings(std::string_view key) const;

  // Compact binary form (little endian, lengths before bytes) for an engine section, and back.
  // parse() keeps views into `bytes`, which must outlive the result; hostile bytes give kInvalidArgument.
  std::string serialize() const;
  static Result<Metadata> parse(std::string_view bytes);

 private:
  template <typename T>
  Result<T> get(std::string_view key) const;
  template <typename T>
  const T* get_if(std::string_view key) const;

  std::vector<std::pair<std::string_view, MetaValue>> entries_;
  // Key to place in entries_. A tree, not a hash table: keys come from files, and chosen ones must not make it slow.
  std::map<std::string_view, size_t> index_;
  std::deque<std::string> owned_;  // a deque moves nothing when it grows or is moved, so views stay valid
};

}  // namespace nereid
