// SPDX-License-Identifier: Apache-2.0
#include "calibrate/range_histogram.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace nereid::calibrate {
namespace {

constexpr size_t kSteps = 128;      // that 8 bits give to a side
constexpr double kNothing = 1e-12;  // a probability for what quantising has made impossible

// Bins [0, kept) with everything beyond in the last of them, against what is left of them when they share kSteps steps.
// The divergence sum p ln(p / q) is in nats.
double divergence(const std::vector<int64_t>& bins, size_t kept, int64_t beyond) {
  std::vector<double> p(bins.begin(), bins.begin() + static_cast<ptrdiff_t>(kept));
  std::vector<double> q(kept, 0);
  double p_sum = 0, q_sum = 0;
  for (size_t step = 0; step < kSteps; ++step) {
    const size_t first = step * kept / kSteps, last = (step + 1) * kept / kSteps;
    double sum = 0;
    size_t used = 0;
    for (size_t i = first; i < last; ++i) {
      sum += p[i];
      used += p[i] > 0 ? 1 : 0;
    }
    for (size_t i = first; i < last; ++i)
      if (p[i] > 0) q[i] = sum / static_cast<double>(used);
    q_sum += sum;
  }
  p[kept - 1] += static_cast<double>(beyond);
  p_sum = q_sum + static_cast<double>(beyond);
  if (q_sum == 0) return HUGE_VAL;
  double out = 0;
  for (size_t i = 0; i < kept; ++i)
    if (p[i] > 0) out += p[i] / p_sum * std::log(p[i] / p_sum / std::max(q[i] / q_sum, kNothing));
  return out;
}

}  // namespace

std::string RangeMethod::name() const {
  switch (kind) {
    case Kind::kMinMax:
      return "min-max";
    case Kind::kEntropy:
      return "entropy";
    case Kind::kPercentile:
      return fmt::format("percentile:{}", percent);
  }
  return "";
}

Result<RangeMethod> range_method_from_name(const std::string& name) {
  using Kind = RangeMethod::Kind;
  if (name == "min-max") return RangeMethod{.kind = Kind::kMinMax};
  if (name == "entropy") return RangeMethod{.kind = Kind::kEntropy};
  constexpr std::string_view kPercentile = "percentile";
  if (name == kPercentile) return RangeMethod{.kind = Kind::kPercentile};
  if (name.starts_with(kPercentile) && name.size() > kPercentile.size() + 1 && name[kPercentile.size()] == ':') {
    RangeMethod method{.kind = Kind::kPercentile};
    const char *first = name.data() + kPercentile.size() + 1, *last = name.data() + name.size();
    const auto [end, problem] = std::from_chars(first, last, method.percent);
    if (problem == std::errc() && end == last && method.percent > 50 && method.percent <= 100) return method;
    return invalid_argument("'{}' is no percentile over 50 and up to 100, such as percentile:99.99", name);
  }
  return invalid_argument("there is no way '{}' to choose ranges; there are min-max, entropy and percentile[:99.99]",
                          name);
}

Status RangeHistogram::add(std::span<const float> values) {
  double least = 0, most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      return invalid_argument("element {} is {}", i, std::isnan(values[i]) ? "NaN" : "infinite");
    least = std::min<double>(least, values[i]);
    most = std::max<double>(most, values[i]);
  }
  count_ += static_cast<int64_t>(values.size());
  least_ = std::min(least_, least);
  most_ = std::max(most_, most);
  if (least == 0 && most == 0) return Status::ok();
  reach(std::max(-least, most));
  const double inverse = 1 / width_;
  for (const float v : values) {
    if (v == 0) continue;
    std::vector<int64_t>& side = v > 0 ? positive_ : negative_;
    ++side[std::min(kBins - 1, static_cast<size_t>(std::abs(static_cast<double>(v)) * inverse))];
  }
  return Status::ok();
}

// Makes the bins wide enough for this magnitude.
void RangeHistogram::reach(double magnitude) {
  int exponent = 0;
  // magnitude <= 2^exponent, and the bins are 2^exponent / kBins wide.
  if (std::frexp(magnitude, &exponent) == 0.5) --exponent;
  const double width = std::ldexp(1.0 / static_cast<double>(kBins), exponent);
  if (width_ == 0) {
    width_ = width;
    positive_.assign(kBins, 0);
    negative_.assign(kBins, 0);
    return;
  }
  // Joining more than all pairs leaves everything in the first bin.
  while (width_ < width) {
    for (std::vector<int64_t>* side : {&positive_, &negative_}) {
      for (size_t i = 0; i < kBins / 2; ++i) (*side)[i] = (*side)[2 * i] + (*side)[2 * i + 1];
      std::fill(side->begin() + kBins / 2, side->end(), 0);
    }
    width_ *= 2;
  }
}

QuantizedRange RangeHistogram::cut(double below, double above) const {
  return {.least = std::max(least_, -below), .most = std::min(most_, above)};
}

// The edge that at most (100 - percent) % of all elements lie beyond.
double RangeHistogram::percentile(const std::vector<int64_t>& side, double percent) const {
  const double allowed = (1 - percent / 100) * static_cast<double>(count_);
  int64_t beyond = 0;
  for (size_t i = kBins; i-- > 0;) {
    beyond += side[i];
    if (static_cast<double>(beyond) > allowed) return static_cast<double>(i + 1) * width_;
  }
  return 0;
}

double RangeHistogram::entropy_threshold() const {
  std::vector<int64_t> bins(kBins);
  size_t used = 0;
  for (size_t i = 0; i < kBins; ++i) {
    bins[i] = positive_[i] + negative_[i];
    if (bins[i] > 0) used = i + 1;
  }
  // A bin of two of these where that is enough: a quarter of the work, and counts that are less noisy.
  double width = width_;
  if (used > kBins / 2) {
    for (size_t i = 0; i < kBins / 2; ++i) bins[i] = bins[2 * i] + bins[2 * i + 1];
    used = (used + 1) / 2;
    width *= 2;
  }
  if (used <= kSteps) return static_cast<double>(used) * width;
  int64_t beyond = std::accumulate(bins.begin() + kSteps, bins.begin() + static_cast<ptrdiff_t>(used), int64_t{0});
  double least = HUGE_VAL;
  size_t best = used;
  const size_t stride = std::max<size_t>(1, used / 512);
  for (size_t kept = kSteps, next = kSteps; kept <= used; ++kept) {
    if (kept > kSteps) beyond -= bins[kept - 1];
    if (kept != next && kept != used) continue;
    next = kept + stride;
    const double now = divergence(bins, kept, beyond);
    if (now < least) {
      least = now;
      best = kept;
    }
  }
  return static_cast<double>(best) * width;
}

QuantizedRange RangeHistogram::range(const RangeMethod& method) const {
  if (width_ == 0) return {};
  switch (method.kind) {
    case RangeMethod::Kind::kMinMax:
      return {.least = least_, .most = most_};
    case RangeMethod::Kind::kPercentile: {
      const QuantizedRange range = cut(percentile(negative_, method.percent), percentile(positive_, method.percent));
      return range == QuantizedRange{} ? QuantizedRange{.least = least_, .most = most_} : range;
    }
    case RangeMethod::Kind::kEntropy: {
      const double threshold = entropy_threshold();
      return cut(threshold, threshold);
    }
  }
  return {};
}

}  // namespace nereid::calibrate
