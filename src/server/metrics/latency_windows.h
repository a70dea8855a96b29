// SPDX-License-Identifier: Apache-2.0
// What models did in the last minute: their counts now, less those of a minute ago. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "server/core/infer_statistics.h"

namespace nereid::server::metrics {

// One thread at a time.
class LatencyWindows {
 public:
  static constexpr int64_t kWindowNs = 60'000'000'000;
  using Counts = std::array<LatencyCounts, static_cast<size_t>(LatencyPhase::kCount)>;

  // Keeps what `model` has counted by `now_ns`, every tenth of the window at the most.
  void sample(const std::string& model, const Counts& counts, int64_t now_ns);
  // Models that are not named by sample() for a window are forgotten.
  void forget(int64_t now_ns);
  // Of what was counted within the window before `now_ns`: between 60 and 66 seconds of it, or all where less is known.
  LatencyCounts recent(const std::string& model, LatencyPhase phase, const LatencyCounts& counts, int64_t now_ns) const;

 private:
  struct Sample {
    int64_t at_ns = 0;
    Counts counts;
  };
  struct Known {
    int64_t seen_ns = 0;
    std::deque<Sample> samples;  // none while nothing is counted, but for one
  };
  std::map<std::string, Known> models_;
};

}  // namespace nereid::server::metrics
