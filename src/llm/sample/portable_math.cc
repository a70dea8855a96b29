// SPDX-License-Identifier: Apache-2.0
// Ranges are reduced with exact steps, series are cut where the next term is below a rounding error.
#include "llm/sample/portable_math.h"

#include <cmath>
#include <limits>

namespace nereid::sample {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kLn2High = 6.93147180369123816490e-01;  // 32 bits: n * kLn2High is exact for the n that occur
constexpr double kLn2Low = 1.90821492927058770002e-10;

}  // namespace

// log(2^e * m) = e ln 2 + 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.172
double stable_log(double x) {
  if (!(x > 0)) return x == 0 ? -kInf : std::numeric_limits<double>::quiet_NaN();
  if (x == kInf) return x;
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 0.70710678118654752) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double series = 0;
  for (int k = 21; k >= 3; k -= 2) series = (series + 1.0 / k) * s2;
  return e * kLn2High + (2 * s + (2 * s * series + e * kLn2Low));
}

double stable_exp(double x) {
  if (std::isnan(x)) return x;
  if (x > 709.78) return kInf;
  if (x < -745.2) return 0;
  const double n = std::nearbyint(x * 1.44269504088896340736);
  const double r = (x - n * kLn2High) - n * kLn2Low;
  double p = 1;
  for (int k = 14; k >= 1; --k) p = 1 + p * r / k;
  return std::ldexp(p, static_cast<int>(n));
}

double stable_pow(double base, double exponent) {
  if (exponent == 0 || base == 1) return 1;
  return stable_exp(exponent * stable_log(base));
}

}  // namespace nereid::sample
