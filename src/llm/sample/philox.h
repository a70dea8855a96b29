// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): random numbers without state.
//
// The n-th number of a seed is a function of (seed, n): a sequence that is preempted and run again, or moved to another
// machine, draws what it would have drawn.
#pragma once

#include <array>
#include <cstdint>

namespace nereid::sample {

using PhiloxBlock = std::array<uint32_t, 4>;

constexpr PhiloxBlock philox(PhiloxBlock counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// Independent sequences of one seed: what each is drawn for.
enum Stream : uint32_t { kTokenStream = 0, kXtcStream = 1, kAcceptStream = 2, kResidualStream = 3 };

// Uniform in [0, 1), 53 bits.
constexpr double uniform(uint64_t seed, uint64_t n, uint32_t stream = kTokenStream) {
  const PhiloxBlock r = philox({static_cast<uint32_t>(n), static_cast<uint32_t>(n >> 32), stream, 0},
                               {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  const uint64_t bits = (uint64_t{r[0]} << 32 | r[1]) >> 11;
  return static_cast<double>(bits) * 0x1.0p-53;
}

}  // namespace nereid::sample
