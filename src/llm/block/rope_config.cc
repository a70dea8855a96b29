// SPDX-License-Identifier: Apache-2.0
// One function a scaling rule; each turns theta and the rotated width into dim/2 inverse frequencies.
#include "llm/block/rope_config.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nereid::llm {
namespace {

using Frequencies = std::vector<double>;

// inv_j = theta^(-2j/dim)
Frequencies plain(double theta, int64_t dim) {
  Frequencies inv(static_cast<size_t>(dim / 2));
  for (size_t j = 0; j < inv.size(); ++j) {
    inv[j] = std::pow(theta, -2.0 * static_cast<double>(j) / static_cast<double>(dim));
  }
  return inv;
}

Frequencies divided(Frequencies inv, const std::vector<double>& divisors) {
  for (size_t j = 0; j < std::min(inv.size(), divisors.size()); ++j) inv[j] /= divisors[j];
  return inv;
}

Frequencies linear(const RopeConfig& c) {
  Frequencies inv = plain(c.theta, c.dim);
  for (double& f : inv) f /= c.factor;
  return inv;
}

// theta grows with the length, so that the slowest pair turns as far over L tokens as it did over the original ones.
Frequencies dynamic(const RopeConfig& c, int64_t max_context) {
  const double longer = static_cast<double>(std::max(max_context, c.original_context));
  const double stretch = c.factor * longer / static_cast<double>(c.original_context) - (c.factor - 1);
  const double dim = static_cast<double>(c.dim);
  return plain(c.theta * std::pow(stretch, dim / (dim - 2)), c.dim);
}

// Long waves are divided by the factor, short ones kept, those between blended.
Frequencies llama3(const RopeConfig& c) {
  const double original = static_cast<double>(c.original_context);
  Frequencies inv = plain(c.theta, c.dim);
  for (double& f : inv) {
    const double wavelength = 2 * std::numbers::pi / f;
    if (wavelength > original / c.low_freq_factor) {
      f /= c.factor;
    } else if (wavelength >= original / c.high_freq_factor) {
      const double s = (original / wavelength - c.low_freq_factor) / (c.high_freq_factor - c.low_freq_factor);
      f = (1 - s) * f / c.factor + s * f;
    }
  }
  return inv;
}

// A ramp over the pairs: those that turn more than beta_fast times over the original context are kept, those that turn
// less than beta_slow times are divided by the factor.
Frequencies yarn(const RopeConfig& c) {
  const double dim = static_cast<double>(c.dim);
  const auto pair_that_turns = [&](double rotations) {
    return dim * std::log(static_cast<double>(c.original_context) / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(c.theta));
  };
  double low = pair_that_turns(c.beta_fast);
  double high = pair_that_turns(c.beta_slow);
  if (c.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, dim - 1);
  if (low == high) high += 0.001;
  Frequencies inv = plain(c.theta, c.dim);
  for (size_t j = 0; j < inv.size(); ++j) {
    const double ramp = std::clamp((static_cast<double>(j) - low) / (high - low), 0.0, 1.0);
    inv[j] = ramp * inv[j] / c.factor + (1 - ramp) * inv[j];
  }
  return inv;
}

double yarn_multiplier(double factor, double mscale) {
  return factor <= 1 ? 1 : 0.1 * mscale * std::log(factor) + 1;
}

double yarn_scale(const RopeConfig& c) {
  if (c.attention_factor) return *c.attention_factor;
  if (c.mscale != 0 && c.mscale_all_dim != 0) {
    return yarn_multiplier(c.factor, c.mscale) / yarn_multiplier(c.factor, c.mscale_all_dim);
  }
  return yarn_multiplier(c.factor, 1);
}

double long_rope_scale(const RopeConfig& c) {
  if (c.attention_factor) return *c.attention_factor;
  if (c.factor <= 1) return 1;
  return std::sqrt(1 + std::log(c.factor) / std::log(static_cast<double>(c.original_context)));
}

}  // namespace

RopeTable rope_table(const RopeConfig& c, int64_t max_context) {
  Frequencies inv;
  double scale = 1;
  switch (c.scaling) {
    case RopeScaling::kNone:
      inv = plain(c.theta, c.dim);
      break;
    case RopeScaling::kLinear:
      inv = linear(c);
      break;
    case RopeScaling::kDynamic:
      inv = dynamic(c, max_context);
      break;
    case RopeScaling::kLlama3:
      inv = llama3(c);
      break;
    case RopeScaling::kYarn:
      inv = yarn(c);
      scale = yarn_scale(c);
      break;
    case RopeScaling::kLongRope:
      inv = divided(plain(c.theta, c.dim), max_context > c.original_context ? c.long_factors : c.short_factors);
      scale = long_rope_scale(c);
      break;
  }
  inv = divided(std::move(inv), c.divisors);
  return {std::vector<float>(inv.begin(), inv.end()), scale};
}

}  // namespace nereid::llm
