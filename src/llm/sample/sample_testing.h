// SPDX-License-Identifier: Apache-2.0
// For tests only: logits, exact probabilities, the chi-square test, small vocabularies.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "llm/sample/sampler.h"

namespace nereid::sample {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline std::vector<float> random_logits(size_t n, uint64_t seed, float scale = 3.0F) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> out(n);
  for (float& v : out) v = normal(rng);
  return out;
}

// Exact probabilities of softmax(logits / temperature).
inline std::vector<double> softmax(const std::vector<float>& logits, double temperature) {
  const double best = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  for (float l : logits) p.push_back(std::exp((l - best) / temperature));
  const double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& v : p) v /= sum;
  return p;
}

// Pearson's statistic; cells that expect fewer than five draws are put together.
inline void expect_distribution(const std::map<int32_t, int>& counts, const std::vector<double>& p, int draws) {
  double statistic = 0;
  double rest_expected = 0;
  int rest = 0;
  int cells = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const auto it = counts.find(static_cast<int32_t>(i));
    const int observed = it == counts.end() ? 0 : it->second;
    const double expected = p[i] * draws;
    if (expected == 0) {
      EXPECT_EQ(observed, 0) << "of " << i;
    }
    if (expected < 5) {
      rest += observed;
      rest_expected += expected;
      continue;
    }
    statistic += (observed - expected) * (observed - expected) / expected;
    ++cells;
  }
  if (rest_expected >= 5) {
    statistic += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
    ++cells;
  }
  // Wilson and Hilferty's normal approximation; beyond four deviations once in 30,000 runs, and the seed is fixed.
  const double k = std::max(1, cells - 1);
  const double z = (std::cbrt(statistic / k) - (1 - 2 / (9 * k))) / std::sqrt(2 / (9 * k));
  EXPECT_LT(z, 4.0) << "chi-square " << statistic << " with " << k << " degrees of freedom";
}

inline Sampler make_sampler(const SamplingParams& params, std::vector<int32_t> end_tokens = {}) {
  auto sampler = Sampler::make(params, std::move(end_tokens));
  EXPECT_TRUE(sampler.is_ok()) << sampler.status().message();
  return *std::move(sampler);
}

inline Sampler make_sampler(const SamplingParams& params, const Vocabulary& vocabulary) {
  auto sampler = Sampler::make(params, vocabulary);
  EXPECT_TRUE(sampler.is_ok()) << sampler.status().message();
  return *std::move(sampler);
}

inline SampleResult draw(Sampler& sampler, std::vector<float> logits, const std::vector<int32_t>& history = {}) {
  auto result = sampler.sample(logits, history);
  EXPECT_TRUE(result.is_ok()) << result.status().message();
  return *std::move(result);
}

inline Vocabulary make_vocabulary(std::vector<std::string> pieces, std::vector<int32_t> end_tokens) {
  auto vocabulary = Vocabulary::make(std::move(pieces), std::move(end_tokens));
  EXPECT_TRUE(vocabulary.is_ok()) << vocabulary.status().message();
  return *std::move(vocabulary);
}

// All single bytes (token = byte), some longer pieces, and an end token, the last.
inline Vocabulary byte_vocabulary(const std::vector<std::string>& longer = {}) {
  std::vector<std::string> pieces;
  for (int b = 0; b < 256; ++b) pieces.emplace_back(1, static_cast<char>(b));
  pieces.insert(pieces.end(), longer.begin(), longer.end());
  pieces.emplace_back();
  const auto end = static_cast<int32_t>(pieces.size() - 1);
  return make_vocabulary(std::move(pieces), {end});
}

}  // namespace nereid::sample
