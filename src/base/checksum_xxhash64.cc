// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include "base/checksum.h"

namespace nereid {
namespace {

static_assert(std::endian::native == std::endian::little, "the algorithm reads little endian numbers");

// The five primes of the specification.
constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                   kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

template <typename T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

constexpr uint64_t round_lane(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

constexpr uint64_t merge_lane(uint64_t hash, uint64_t lane) {
  return (hash ^ round_lane(0, lane)) * kPrime1 + kPrime4;
}

void add_stripe(std::array<uint64_t, 4>& lanes, const std::byte* p) {
  for (size_t i = 0; i < 4; ++i) lanes[i] = round_lane(lanes[i], load<uint64_t>(p + 8 * i));
}

}  // namespace

XxHash64::XxHash64(uint64_t seed)
    : lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1}, seed_(seed) {}

void XxHash64::update(std::span<const std::byte> bytes) {
  const size_t held = total_ % kStripe;
  total_ += bytes.size();
  if (held + bytes.size() < kStripe) {
    if (!bytes.empty()) std::memcpy(pending_.data() + held, bytes.data(), bytes.size());
    return;
  }
  if (held > 0) {
    std::memcpy(pending_.data() + held, bytes.data(), kStripe - held);
    add_stripe(lanes_, pending_.data());
    bytes = bytes.subspan(kStripe - held);
  }
  std::array<uint64_t, 4> lanes = lanes_;
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe)) add_stripe(lanes, bytes.data());
  lanes_ = lanes;
  if (!bytes.empty()) std::memcpy(pending_.data(), bytes.data(), bytes.size());
}

uint64_t XxHash64::digest() const {
  uint64_t h = seed_ + kPrime5;
  if (total_ >= kStripe) {
    h = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) h = merge_lane(h, lane);
  }
  h += total_;
  const std::byte* p = pending_.data();
  size_t left = total_ % kStripe;
  for (; left >= 8; left -= 8, p += 8) h = std::rotl(h ^ round_lane(0, load<uint64_t>(p)), 27) * kPrime1 + kPrime4;
  if (left >= 4) {
    h = std::rotl(h ^ load<uint32_t>(p) * kPrime1, 23) * kPrime2 + kPrime3;
    left -= 4;
    p += 4;
  }
  for (; left > 0; --left, ++p) h = std::rotl(h ^ load<uint8_t>(p) * kPrime5, 11) * kPrime1;
  h = (h ^ h >> 33) * kPrime2;
  h = (h ^ h >> 29) * kPrime3;
  return h ^ h >> 32;
}

uint64_t xxhash64(std::span<const std::byte> bytes, uint64_t seed) {
  XxHash64 hash(seed);
  hash.update(bytes);
  return hash.digest();
}

}  // namespace nereid
