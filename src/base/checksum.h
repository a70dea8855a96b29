// SPDX-License-Identifier: Apache-2.0
// Content hashes: XXH64 (fast; finds accidents) and SHA-256 (for what comes from elsewhere; nobody can forge it).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid {

// The public XXH64 algorithm (xxHash fast digest algorithm, version 0.1.1), written from its specification.
// The same value whatever pieces the bytes come in. About 10 GB/s a core.
class XxHash64 {
 public:
  explicit XxHash64(uint64_t seed = 0);
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // Of everything so far; more may follow.
  uint64_t digest() const;

 private:
  static constexpr size_t kStripe = 32;
  std::array<uint64_t, 4> lanes_;
  uint64_t seed_;
  uint64_t total_ = 0;
  std::array<std::byte, kStripe> pending_{};  // total_ % 32 bytes that do not fill a stripe yet
};

uint64_t xxhash64(std::span<const std::byte> bytes, uint64_t seed = 0);
inline uint64_t xxhash64(std::string_view text, uint64_t seed = 0) {
  return xxhash64(std::as_bytes(std::span(text)), seed);
}

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // Of everything so far, as 64 lower-case hexadecimal digits; more may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::span<const std::byte> bytes);
// Of a file of any length, through a small buffer.
Result<std::string> sha256_of_file(const std::string& path);

}  // namespace nereid
