// SPDX-License-Identifier: Apache-2.0
#include "llm/schedule/pace.h"

#include <algorithm>
#include <bit>

namespace nereid::schedule {
namespace {

constexpr double kNew = 0.2;             // share of the newest step in an average
constexpr double kOutlier = 4;           // a step that took longer by more (a machine
                                         // that paused) counts as so much
constexpr double kPatienceUs = 250'000;  // of waiting behind another prompt that doubles what is borne
constexpr int32_t kRelearn = 32;         // steps after which one runs without prompts to learn what that takes
constexpr int32_t kLongPart = 64;        // prompt tokens beside which reading the weights once is no matter

void average(double* value, double sample) {
  if (*value <= 0)
    *value = sample;
  else
    *value += kNew * (std::min(sample, *value * kOutlier) - *value);
}

size_t size_of(int32_t answers, size_t sizes) {
  return std::min(static_cast<size_t>(std::bit_width(static_cast<uint32_t>(answers))), sizes - 1);
}

}  // namespace

// Of the nearest number of answers that is known, the smaller first: too little
// is safe.
double Pace::base_us(int32_t answers) const {
  const size_t at = size_of(answers, kSizes);
  for (size_t i = at + 1; i-- > 0;)
    if (base_us_[i] > 0) return base_us_[i];
  for (size_t i = at + 1; i < kSizes; ++i)
    if (base_us_[i] > 0) return base_us_[i];
  return 0;
}

void Pace::learn(int32_t answers, int32_t prompt_tokens, int64_t took_us) {
  const auto took = static_cast<double>(took_us);
  if (took <= 0) return;
  if (prompt_tokens == 0) {
    average(&base_us_[size_of(answers, kSizes)], took);
    steps_since_[size_of(answers, kSizes)] = 0;
  } else if (const double base = answers > 0 ? base_us(answers) : 0; base > 0) {
    average(&each_us_, std::max(took - base, took * 0.01) / prompt_tokens);
  } else if (prompt_tokens >= kLongPart) {
    average(&each_us_, took / prompt_tokens);
  }
}

int32_t Pace::prompt_tokens(int32_t answers, int64_t behind_us, int32_t least, int32_t most) {
  const double base = base_us(answers);
  if (stretch_ <= 1 || base <= 0 || each_us_ <= 0) return most;
  int32_t& since = steps_since_[size_of(answers, kSizes)];
  if (++since > kRelearn) {
    since = 0;
    return 0;
  }
  const double stretch = stretch_ * (1 + static_cast<double>(behind_us) / kPatienceUs);
  const double part = (stretch - 1) * base / each_us_;
  return part >= most ? most : std::max(std::min(least, most), static_cast<int32_t>(part));
}

}  // namespace nereid::schedule
