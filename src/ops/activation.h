// SPDX-License-Identifier: Apache-2.0
// The functions of one number: a table by name, for the unary ops and for the `activation` attribute of gated ops.
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"

namespace nereid::ops {

struct Activation {
  std::string_view name;
  double (*function)(double);
};

// silu, gelu, gelu_tanh, relu, sigmoid, tanh.
std::span<const Activation> activation_table();
// kInvalidArgument, naming the known ones.
Result<const Activation*> find_activation(std::string_view name);

double silu(double x);       // x / (1 + e^-x)
double gelu(double x);       // x * Phi(x), Phi the standard normal distribution
double gelu_tanh(double x);  // x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), Hendrycks and Gimpel 2016
double relu(double x);
double sigmoid(double x);

}  // namespace nereid::ops
