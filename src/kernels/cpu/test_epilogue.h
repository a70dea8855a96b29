// SPDX-License-Identifier: Apache-2.0
// For tests only: the epilogue in f64.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/cpu/epilogue.h"

namespace nereid::kernels::testing {

// Stands for "with bias" or "with residual" in a test case: the test puts its own.
inline constexpr float kSome = 0;

inline double reference_act(Act act, double alpha, double beta, double x) {
  const auto clip = [](double v) { return std::min(1.0, std::max(0.0, v)); };
  switch (act) {
    case Act::kNone:
      return x;
    case Act::kRelu:
      return std::max(0.0, x);
    case Act::kClip:
      return std::min(beta, std::max(alpha, x));
    case Act::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Act::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Act::kTanh:
      return std::tanh(x);
    case Act::kSilu:
      return x / (1 + std::exp(-alpha * x));
    case Act::kGelu:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case Act::kGeluTanh:
      return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Act::kHardSigmoid:
      return clip(alpha * x + beta);
    case Act::kHardSwish:
      return x * clip(alpha * x + beta);
    case Act::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Act::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
  }
  return x;
}

struct ActCase {
  Act act;
  float alpha, beta;
};
inline constexpr ActCase kActCases[] = {{Act::kNone, 1, 0},
                                        {Act::kRelu, 1, 0},
                                        {Act::kClip, -1.5f, 2},
                                        {Act::kLeakyRelu, 0.1f, 0},
                                        {Act::kSigmoid, 1, 0},
                                        {Act::kTanh, 1, 0},
                                        {Act::kSilu, 1, 0},
                                        {Act::kSilu, 1.5f, 0},
                                        {Act::kGelu, 1, 0},
                                        {Act::kGeluTanh, 1, 0},
                                        {Act::kHardSigmoid, 0.2f, 0.5f},
                                        {Act::kHardSwish, 1 / 6.0f, 0.5f},
                                        {Act::kElu, 1.2f, 0},
                                        {Act::kMish, 1, 0}};

}  // namespace nereid::kernels::testing
