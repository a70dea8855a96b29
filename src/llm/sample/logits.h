// SPDX-License-Identifier: Apache-2.0
// Passes over all logits of a vocabulary, written so that compilers vectorise them.
//
// Every sum has a fixed order (eight lanes, then a tree), so results do not depend on the machine's vector width.
// NaN counts as -inf everywhere.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nereid::sample {

// The logit of a token that may not come.
inline constexpr float kNegativeInfinity = -std::numeric_limits<float>::infinity();

struct Candidate {
  int32_t token;
  float logit;
};

// The order of preference: the greater logit, then the lower token.
inline bool is_better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// The token of the greatest logit, the lowest such; -1 when all are -inf or NaN. Bound: one read of the logits.
int32_t argmax(std::span<const float> logits);
float max_of(std::span<const float> logits);

// e^x within 2 ulp for x <= 0, 0 below -87; the same bits on every machine.
float exp_of(float x);
// values[i] = exp_of((values[i] - shift) * scale), for values <= shift.
void exp_all(std::span<float> values, float shift, float scale);
double sum_of(std::span<const float> values);
// log(sum(exp(logits))). -inf when nothing is finite, +inf when a logit is.
double log_sum_exp(std::span<const float> logits);

// The k best candidates, best first; fewer when fewer are above -inf. Exact: the k-th greatest maximum of the blocks
// bounds the k-th logit from below, so one more pass gathers all that can matter. `scratch` keeps its memory for the
// next call.
void select_top(std::span<const float> logits, size_t k, std::vector<float>* scratch, std::vector<Candidate>* out);

// All tokens of at least this logit, by token; none that is -inf or NaN.
void gather_above(std::span<const float> logits, float bound, std::vector<Candidate>* out);

struct Moments {
  double mean = 0;
  double deviation = 0;
  size_t count = 0;  // logits above -inf, which are those that count
};
Moments moments_of(std::span<const float> logits);

}  // namespace nereid::sample
