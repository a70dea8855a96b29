// SPDX-License-Identifier: Apache-2.0
// How a tensor's elements are spread, gathered run by run in bounded memory, and the range that 8 bits are to cover.
//
// Elements are counted in bins of equal width on both sides of zero. The width is a power of two; when an element lies
// beyond the last bin, pairs of bins are joined until it does not. So what is gathered does not depend on the order of
// the runs, nor on how they are split.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::calibrate {

// What an activation's codes stand for: from `least` (at most 0) to `most` (at least 0).
struct QuantizedRange {
  double least = 0, most = 0;
  bool operator==(const QuantizedRange&) const = default;
};

// How a range is chosen.
struct RangeMethod {
  enum class Kind : uint8_t {
    kMinMax,      // all that was seen
    kPercentile,  // all but (100 - percent) % of the elements at either end
    kEntropy,     // the cut |x| <= t whose 128 steps tell the least about another distribution than the uncut one
  };
  Kind kind = Kind::kMinMax;
  double percent = 99.99;
  std::string name() const;  // "min-max", "entropy", "percentile:99.99"
};
// kInvalidArgument names what there is.
Result<RangeMethod> range_method_from_name(const std::string& name);

class RangeHistogram {
 public:
  // kInvalidArgument: an element is NaN or infinite; nothing is counted then.
  Status add(std::span<const float> values);
  int64_t count() const { return count_; }
  double least() const { return least_; }
  double most() const { return most_; }
  // Elements that are exactly zero are in every range: they count for percentiles, not for the entropy.
  QuantizedRange range(const RangeMethod& method) const;

 private:
  static constexpr size_t kBins = 4096;  // a side
  void reach(double magnitude);
  QuantizedRange cut(double below, double above) const;
  double percentile(const std::vector<int64_t>& side, double percent) const;
  double entropy_threshold() const;

  double width_ = 0;  // of a bin; 0: nothing but zeros so far
  std::vector<int64_t> positive_, negative_;
  int64_t count_ = 0;
  double least_ = 0, most_ = 0;
};

}  // namespace nereid::calibrate
