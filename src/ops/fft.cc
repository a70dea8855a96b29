// SPDX-License-Identifier: Apache-2.0
// Fourier transforms.
#include "ops/fft.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace nereid::ops {
namespace {

using Complex = std::complex<double>;

Complex turn(double turns) {
  const double angle = 2 * std::numbers::pi * turns;
  return {std::cos(angle), std::sin(angle)};
}

// Length a power of two; in place.
void by_halves(std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  for (size_t i = 1, j = 0; i < n; ++i) {  // j: the bits of i in reverse
    size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  std::vector<Complex> factors(n / 2);
  for (size_t i = 0; i < n / 2; ++i)
    factors[i] = turn((inverse ? 1.0 : -1.0) * static_cast<double>(i) / static_cast<double>(n));
  for (size_t half = 1; half < n; half *= 2) {
    const size_t stride = n / (2 * half);
    for (size_t first = 0; first < n; first += 2 * half) {
      for (size_t i = 0; i < half; ++i) {
        const Complex odd = x[first + i + half] * factors[i * stride];
        x[first + i + half] = x[first + i] - odd;
        x[first + i] += odd;
      }
    }
  }
}

// ik = (i^2 + k^2 - (k - i)^2) / 2 makes the transform a convolution.
void by_convolution(std::vector<Complex>& x, bool inverse) {
  const size_t n = x.size();
  const size_t padded = std::bit_ceil(2 * n - 1);
  std::vector<Complex> chirp(n), a(padded), b(padded);
  size_t square = 0;  // of i, modulo 2 n
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) square = (square + 2 * i - 1) % (2 * n);
    chirp[i] = turn((inverse ? 0.5 : -0.5) * static_cast<double>(square) / static_cast<double>(n));
    a[i] = x[i] * chirp[i];
    b[i] = std::conj(chirp[i]);
    if (i > 0) b[padded - i] = b[i];
  }
  by_halves(a, false);
  by_halves(b, false);
  for (size_t i = 0; i < padded; ++i) a[i] *= b[i];
  by_halves(a, true);
  for (size_t i = 0; i < n; ++i) x[i] = a[i] * chirp[i] / static_cast<double>(padded);
}

}  // namespace

void fft(std::vector<Complex>& x, bool inverse) {
  if (x.size() < 2) return;
  if (std::has_single_bit(x.size()))
    by_halves(x, inverse);
  else
    by_convolution(x, inverse);
}

}  // namespace nereid::ops
