// SPDX-License-Identifier: Apache-2.0
#include "server/core/latency_counts.h"

#include <algorithm>
#include <limits>

namespace nereid::server {
namespace {

constexpr int64_t kFirstDecade = 10'000;  // ns

// The upper bounds of a decade that begins at 100, in hundredths of its beginning.
constexpr std::array<int16_t, LatencyCounts::kOfDecade> kUpper = [] {
  std::array<int16_t, LatencyCounts::kOfDecade> out{};
  size_t i = 0;
  for (int16_t at = 110; at <= 200; at = static_cast<int16_t>(at + 10)) out[i++] = at;
  for (int16_t at = 225; at <= 500; at = static_cast<int16_t>(at + 25)) out[i++] = at;
  for (int16_t at = 550; at <= 1000; at = static_cast<int16_t>(at + 50)) out[i++] = at;
  return out;
}();
static_assert(kUpper.back() == 1000);

constexpr std::array<int64_t, LatencyCounts::kBuckets> kBounds = [] {
  std::array<int64_t, LatencyCounts::kBuckets> out{};
  size_t i = 0;
  for (; i < 10; ++i) out[i] = static_cast<int64_t>(i + 1) * 1000;
  int64_t base = kFirstDecade;
  for (size_t decade = 0; decade < LatencyCounts::kDecades; ++decade, base *= 10)
    for (const int16_t upper : kUpper) out[i++] = base / 100 * upper;
  out[i] = std::numeric_limits<int64_t>::max();
  return out;
}();

}  // namespace

size_t LatencyCounts::bucket_of(int64_t ns) {
  if (ns <= kFirstDecade) return ns <= 1000 ? 0 : static_cast<size_t>((ns - 1) / 1000);
  int64_t base = kFirstDecade;
  size_t first = 10;
  while (ns > base * 10) {
    base *= 10, first += kOfDecade;
    if (first == kBuckets - 1) return first;
  }
  const int64_t below = ns - 1;  // bounds belong to the bucket below them
  if (below < 2 * base) return first + static_cast<size_t>((below - base) * 10 / base);
  if (below < 5 * base) return first + 10 + static_cast<size_t>((below - 2 * base) * 4 / base);
  return first + 22 + static_cast<size_t>((below - 5 * base) * 2 / base);
}

int64_t LatencyCounts::upper_ns(size_t bucket) {
  return kBounds[bucket];
}

void LatencyCounts::add(int64_t ns, uint64_t times) {
  ns = std::max<int64_t>(ns, 0);
  counts[bucket_of(ns)] += times;
  count += times;
  sum_ns += ns * static_cast<int64_t>(times);
}

void LatencyCounts::add(const LatencyCounts& others) {
  for (size_t i = 0; i < kBuckets; ++i) counts[i] += others.counts[i];
  count += others.count;
  sum_ns += others.sum_ns;
}

uint64_t LatencyCounts::up_to(int64_t bound_ns) const {
  uint64_t all = 0;
  for (size_t i = 0; i < kBuckets && kBounds[i] <= bound_ns; ++i) all += counts[i];
  return all;
}

double LatencyCounts::quantile_ns(double q) const {
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  const double rank = q * static_cast<double>(count);
  double below = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    const auto here = static_cast<double>(counts[i]);
    if (here == 0 || below + here < rank) {
      below += here;
      continue;
    }
    const double lower = i == 0 ? 0 : static_cast<double>(kBounds[i - 1]);
    if (i + 1 == kBuckets) return lower;
    return lower + (static_cast<double>(kBounds[i]) - lower) * std::clamp((rank - below) / here, 0.0, 1.0);
  }
  return static_cast<double>(kBounds[kBuckets - 2]);
}

LatencyCounts LatencyCounts::since(const LatencyCounts& earlier) const {
  LatencyCounts out = *this;
  for (size_t i = 0; i < kBuckets; ++i) out.counts[i] -= earlier.counts[i];
  out.count -= earlier.count;
  out.sum_ns -= earlier.sum_ns;
  return out;
}

}  // namespace nereid::server
