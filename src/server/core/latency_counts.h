// SPDX-License-Identifier: Apache-2.0
// How long things took, counted in buckets: fine enough for quantiles, with decimal bounds so that coarser histograms
// are sums of them, and addable over time, models and replicas.
//
// Buckets: ten of 1 us, then eight decades from 10 us on, each cut at 1.0, 1.1 ... 2.0, 2.25 ... 5.0, 5.5 ... 10: none
// is wider than an eighth of its lower bound. A bound belongs to the bucket below it. What is above 1000 s is in the
// last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nereid::server {

struct LatencyCounts {
  static constexpr size_t kOfDecade = 32, kDecades = 8;
  static constexpr size_t kBuckets = 10 + kDecades * kOfDecade + 1;

  static size_t bucket_of(int64_t ns);
  static int64_t upper_ns(size_t bucket);  // INT64_MAX for the last

  void add(int64_t ns, uint64_t times = 1);
  // Of all that took at most `bound_ns`, which is a bound of a bucket.
  uint64_t up_to(int64_t bound_ns) const;
  // The time that a share of `q` (0 to 1) did not exceed, interpolated in its bucket; NaN where nothing was counted.
  double quantile_ns(double q) const;
  void add(const LatencyCounts& others);
  // What was counted after `earlier`, which was read from the same counter.
  LatencyCounts since(const LatencyCounts& earlier) const;

  std::array<uint64_t, kBuckets> counts{};
  uint64_t count = 0;
  int64_t sum_ns = 0;
};

}  // namespace nereid::server
