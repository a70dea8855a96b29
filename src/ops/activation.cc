// SPDX-License-Identifier: Apache-2.0
// Activation functions in double precision.
#include "ops/activation.h"

#include <cmath>
#include <numbers>
#include <string>

namespace nereid::ops {

double sigmoid(double x) {
  return 1.0 / (1.0 + std::exp(-x));
}
double silu(double x) {
  return x * sigmoid(x);
}
double gelu(double x) {
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}
double gelu_tanh(double x) {
  const double c = std::sqrt(2.0 / std::numbers::pi);
  return 0.5 * x * (1.0 + std::tanh(c * (x + 0.044715 * x * x * x)));
}
// Written so that a not-a-number stays one.
double relu(double x) {
  return x < 0 ? 0 : x;
}

namespace {
double hyperbolic_tangent(double x) {
  return std::tanh(x);
}

constexpr Activation kActivations[] = {
    {"gelu", gelu},       {"gelu_tanh", gelu_tanh}, {"relu", relu},
    {"sigmoid", sigmoid}, {"silu", silu},           {"tanh", hyperbolic_tangent},
};
}  // namespace

std::span<const Activation> activation_table() {
  return kActivations;
}

Result<const Activation*> find_activation(std::string_view name) {
  std::string known;
  for (const Activation& a : kActivations) {
    if (a.name == name) return &a;
    known += (known.empty() ? "" : ", ") + std::string(a.name);
  }
  return invalid_argument("there is no activation '{}'; known are {}", name, known);
}

}  // namespace nereid::ops
