// SPDX-License-Identifier: Apache-2.0
// Logarithm, exponential and power with the same bits on every machine: the C library's differ in the last place from
// version to version and from CPU to CPU, and a token may hang on it. Within 2 ulp.
#pragma once

namespace nereid::sample {

double stable_log(double x);                      // -inf at 0, NaN below
double stable_exp(double x);                      // 0 below -745
double stable_pow(double base, double exponent);  // for base >= 0: exp(exponent * log(base)), within 1e-13 of it

}  // namespace nereid::sample
