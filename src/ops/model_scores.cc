// SPDX-License-Identifier: Apache-2.0
// Post-transforms of scores.
#include "ops/model_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::ops {
namespace {

double logistic(double x) {
  const double p = 1 / (1 + std::exp(-std::abs(x)));
  return x < 0 ? 1 - p : p;
}

// sqrt(2) * erfinv(2 p - 1), the inverse error function by Winitzki's formula: what runtimes of this format compute.
double probit(double p) {
  const double x = 2 * p - 1;
  if (!(x > -1 && x < 1)) {
    if (x == -1 || x == 1) return x * std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
  }
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  const double log = std::log((1 - x) * (1 + x));
  const double half = 2 / (kPi * kA) + log / 2;
  const double inverse = std::copysign(std::sqrt(std::sqrt(half * half - log / kA) - half), x);
  return std::sqrt(2.0) * inverse;
}

void softmax(std::span<double> scores, bool zeros_stay) {
  constexpr double kZero = 1e-7;
  const auto counts = [&](double s) { return !zeros_stay || std::abs(s) > kZero; };
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (double s : scores) most = std::max(most, s);
  for (double& s : scores) {
    s = counts(s) ? std::exp(s - most) : s * std::exp(-most);
    sum += s;
  }
  if (sum != 0)
    for (double& s : scores) s /= sum;
}

}  // namespace

Result<PostTransform> read_post_transform(const Attrs& attrs) {
  const std::string& text = attrs.text("post_transform");
  if (text == "NONE" || text.empty()) return PostTransform::kNone;
  if (text == "SOFTMAX") return PostTransform::kSoftmax;
  if (text == "LOGISTIC") return PostTransform::kLogistic;
  if (text == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (text == "PROBIT") return PostTransform::kProbit;
  return invalid_argument("post_transform is '{}'; it should be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", text);
}

void transform_scores(PostTransform how, std::span<double> scores) {
  switch (how) {
    case PostTransform::kNone:
      break;
    case PostTransform::kSoftmax:
      softmax(scores, false);
      break;
    case PostTransform::kSoftmaxZero:
      softmax(scores, true);
      break;
    case PostTransform::kLogistic:
      for (double& s : scores) s = logistic(s);
      break;
    case PostTransform::kProbit:
      for (double& s : scores) s = probit(s);
      break;
  }
}

std::vector<double> both_classes(PostTransform how, double score, bool is_probability) {
  if (how == PostTransform::kLogistic) return {logistic(-score), logistic(score)};
  if (how == PostTransform::kProbit) return {probit(1 - score), probit(score)};
  return {is_probability ? 1 - score : -score, score};
}

int64_t first_largest(std::span<const double> scores) {
  return scores.empty() ? 0 : std::ranges::max_element(scores) - scores.begin();
}

}  // namespace nereid::ops
