// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms of any length in n log n steps: by halves (Cooley, Tukey 1965), other lengths than powers
// of two through a convolution (Bluestein 1970).
#pragma once

#include <complex>
#include <vector>

namespace nereid::ops {

// y[k] = sum over i of x[i] * e^(-+2 pi i k / n), + if inverse; the inverse is not divided by n.
void fft(std::vector<std::complex<double>>& x, bool inverse);

}  // namespace nereid::ops
