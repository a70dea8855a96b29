// SPDX-License-Identifier: Apache-2.0
// What a client may make a server do for nothing: frames that cost work and carry none (pings, empty frames, streams
// that are taken back at once). A bucket that fills with time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nereid::server::net::http2 {

class AbuseBudget {
 public:
  // False: it is used up.
  bool spend(int64_t points, int64_t at_ns) {
    constexpr int64_t kSecond = 1'000'000'000;
    const int64_t earned = kPerSecond * std::clamp<int64_t>(at_ns - filled_ns_, 0, kSecond) / kSecond;
    if (earned > 0) earn(earned), filled_ns_ = at_ns;
    left_ -= points;
    return left_ >= 0;
  }

  // Work that was worth it.
  void earn(int64_t points) { left_ = std::min(kMost, left_ + points); }

 private:
  static constexpr int64_t kMost = 100'000, kPerSecond = 50'000;
  int64_t left_ = kMost, filled_ns_ = 0;
};

}  // namespace nereid::server::net::http2
