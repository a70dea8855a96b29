// SPDX-License-Identifier: Apache-2.0
#include "calibrate/precision_search.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace nereid::calibrate {
namespace {

constexpr double kLeastError = 1e-12;  // what costs no error at all comes first, but is not infinitely good

// One layer one precision lower.
struct Step {
  size_t layer = 0;
  LayerPrecision precision = LayerPrecision::kBF16;
  double worth = 0;  // time saved for error, both against the step before it of the same layer
};

// A layer's steps, each faster than the one before and worth less for its error: a precision that saves less time and
// costs more error than another is left out.
std::vector<Step> steps_of(const SearchedLayer& layer, size_t index, const PrecisionSearch& search) {
  std::vector<LowerPrecision> useful;
  for (const LowerPrecision& l : layer.lower)
    if (l.time <= layer.time * (1 - search.least_gain) && std::isfinite(l.error) && l.error <= search.bound)
      useful.push_back(l);
  std::ranges::stable_sort(useful, [](const LowerPrecision& a, const LowerPrecision& b) {
    return a.time != b.time ? a.time < b.time : a.error < b.error;
  });
  std::vector<Step> steps;
  double time = layer.time, error = 0;
  // The step of the best worth from where we are, again and again.
  for (;;) {
    const LowerPrecision* best = nullptr;
    double best_worth = 0;
    for (const LowerPrecision& l : useful) {
      if (l.time >= time) continue;
      const double worth = (time - l.time) / std::max(l.error - error, kLeastError);
      if (best == nullptr || worth > best_worth) {
        best = &l;
        best_worth = worth;
      }
    }
    if (best == nullptr) return steps;
    steps.push_back({index, best->precision, best_worth});
    time = best->time;
    error = std::max(error, best->error);
  }
}

PrecisionMix mix_of(const std::vector<Step>& steps, size_t count, size_t layers) {
  PrecisionMix mix(layers, LayerPrecision::kF32);
  for (size_t i = 0; i < count; ++i) mix[steps[i].layer] = steps[i].precision;
  return mix;
}

}  // namespace

std::string_view layer_precision_name(LayerPrecision precision) {
  return precision == LayerPrecision::kF32 ? "f32" : precision == LayerPrecision::kBF16 ? "bf16" : "int8";
}

double mix_time(const std::vector<SearchedLayer>& layers, const PrecisionMix& mix) {
  double sum = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    double time = layers[i].time;
    for (const LowerPrecision& l : layers[i].lower)
      if (l.precision == mix[i]) time = l.time;
    sum += time;
  }
  return sum;
}

Result<FoundMix> search_precisions(const PrecisionSearch& search,
                                   const std::function<Result<double>(const PrecisionMix&)>& measure) {
  const size_t n = search.layers.size();
  std::vector<Step> steps;
  for (size_t i = 0; i < n; ++i) {
    const std::vector<Step> own = steps_of(search.layers[i], i, search);
    steps.insert(steps.end(), own.begin(), own.end());
  }
  // A layer's second step is worth less than its first, so that it never comes before it.
  std::ranges::stable_sort(steps, std::greater(), &Step::worth);

  FoundMix best{.mix = mix_of(steps, 0, n)};
  const auto keeps_bound = [&](const PrecisionMix& mix) -> Result<bool> {
    NEREID_TRY(const double error, measure(mix));
    ++best.measurements;
    if (!(error <= search.bound)) return false;
    best.mix = mix;
    best.error = error;
    return true;
  };
  // All steps at once are what one hopes for; else the longest row that keeps the bound lies in [good, bad).
  size_t good = 0, bad = steps.size() + 1;
  while (bad - good > 1 && best.measurements < search.most_measurements) {
    const size_t at = bad > steps.size() ? steps.size() : good + (bad - good) / 2;
    NEREID_TRY(const bool keeps, keeps_bound(mix_of(steps, at, n)));
    (keeps ? good : bad) = at;
  }
  // What is behind the step that went too far may still fit.
  for (size_t i = good + 1; i < steps.size() && best.measurements < search.most_measurements; ++i) {
    PrecisionMix mix = best.mix;
    if (mix[steps[i].layer] == steps[i].precision) continue;
    mix[steps[i].layer] = steps[i].precision;
    NEREID_RETURN_IF_ERROR(keeps_bound(mix));
  }
  best.time = mix_time(search.layers, best.mix);
  return best;
}

}  // namespace nereid::calibrate
