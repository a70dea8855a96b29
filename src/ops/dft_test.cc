// SPDX-License-Identifier: Apache-2.0
// Fourier transforms, windows and the mel scale.
#include <cmath>
#include <numbers>

#include "ops/fft.h"
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;
using Complex = std::complex<double>;

Tensor number(double v) {
  return Tensor::of(DType::i64, {}, {v});
}

TEST(Fft, any_length_is_the_sum_of_its_definition) {
  for (size_t n : {1u, 2u, 3u, 5u, 8u, 12u, 17u, 64u, 100u}) {
    std::vector<Complex> x(n), y(n);
    for (size_t i = 0; i < n; ++i) x[i] = Complex(std::sin(1.0 * i * i), std::cos(3.0 * i));
    for (size_t k = 0; k < n; ++k)
      for (size_t i = 0; i < n; ++i)
        y[k] += x[i] * std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * i % n) / static_cast<double>(n));
    std::vector<Complex> z = x;
    fft(z, false);
    for (size_t k = 0; k < n; ++k) EXPECT_LT(std::abs(z[k] - y[k]), 1e-10) << n << " " << k;
    fft(z, true);
    for (size_t k = 0; k < n; ++k) EXPECT_LT(std::abs(z[k] / static_cast<double>(n) - x[k]), 1e-12) << n << " " << k;
  }
}

TEST(Dft, of_real_numbers) {
  const Tensor x = f32({1, 4, 1}, {1, 2, 3, 4});
  const Tensor y = run_op("dft", {x})[0];
  EXPECT_EQ(y.sizes, (Ints{1, 4, 2}));
  EXPECT_THAT(y.numbers(), near({10, 0, -2, 2, -2, 0, -2, -2}));
  EXPECT_THAT(numbers_of("dft", {x}, {{"onesided", true}}), near({10, 0, -2, 2, -2, 0}));
}

TEST(Dft, there_and_back) {
  const Tensor x = f32({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  for (double axis : {0.0, 1.0, -2.0}) {
    const Tensor y = run_op("dft", {x, absent(), number(axis)})[0];
    EXPECT_THAT(numbers_of("dft", {y, absent(), number(axis)}, {{"inverse", true}}), near(x.numbers(), 1e-5));
  }
  const Tensor real = f32({1, 5, 1}, {1, 2, 3, 4, 7});
  const Tensor half = run_op("dft", {real}, {{"onesided", true}})[0];
  const Tensor back = run_op("dft", {half, number(5)}, {{"onesided", true}, {"inverse", true}})[0];
  EXPECT_EQ(back.sizes, (Ints{1, 5, 1}));
  EXPECT_THAT(back.numbers(), near(real.numbers(), 1e-5));
}

TEST(Dft, a_length_cuts_or_pads) {
  const Tensor x = f32({3, 1}, {1, 2, 3});
  EXPECT_THAT(numbers_of("dft", {x, number(2)}), near({3, 0, -1, 0}));
  EXPECT_EQ(run_op("dft", {x, number(7)})[0].sizes, (Ints{7, 2}));
}

TEST(Dft, refuses_what_makes_no_sense) {
  const Tensor x = f32({1, 2, 1}, {1, 2}), z = f32({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(refusal("dft", {f32({2, 3}, {1, 2, 3, 4, 5, 6})}), HasSubstr("should be 1 or 2"));
  EXPECT_THAT(refusal("dft", {z}, {{"onesided", true}}), HasSubstr("is complex"));
  EXPECT_THAT(refusal("dft", {x}, {{"onesided", true}, {"inverse", true}}), HasSubstr("a complex spectrum"));
  EXPECT_THAT(refusal("dft", {x, absent(), number(2)}), HasSubstr("that of real and imaginary parts"));
  EXPECT_THAT(refusal("dft", {x, number(0)}), HasSubstr("the length of the transform is 0"));
  EXPECT_THAT(refusal("dft", {x, number(1e15)}), HasSubstr("the length of the transform is"));
}

TEST(Stft, windows_step_over_the_signal) {
  const Tensor signal = f32({1, 4, 1}, {1, 2, 3, 4});
  const Tensor y = run_op("stft", {signal, number(1), f32({2}, {1, 2})})[0];
  EXPECT_EQ(y.sizes, (Ints{1, 3, 2, 2}));
  EXPECT_THAT(y.numbers(), near({5, 0, -3, 0, 8, 0, -4, 0, 11, 0, -5, 0}));
  EXPECT_EQ(run_op("stft", {signal, number(2), absent(), number(2)}, {{"onesided", false}})[0].sizes,
            (Ints{1, 2, 2, 2}));
  EXPECT_THAT(refusal("stft", {signal, number(0)}), HasSubstr("should be at least 1"));
  EXPECT_THAT(refusal("stft", {signal, number(1), absent(), number(5)}), HasSubstr("but the signal only 4"));
  EXPECT_THAT(refusal("stft", {signal, number(1), f32({2}, {1, 2}), number(3)}), HasSubstr("does not fit frames of 3"));
}

TEST(Window, fades_in_and_out) {
  EXPECT_THAT(numbers_of("hann_window", {number(4)}), near({0, 0.5, 1, 0.5}));
  EXPECT_THAT(numbers_of("hann_window", {number(3)}, {{"periodic", false}}), near({0, 1, 0}));
  EXPECT_THAT(numbers_of("hamming_window", {number(2)}), near({4.0 / 46, 1}));
  EXPECT_THAT(numbers_of("blackman_window", {number(2)}), near({0, 1}));
  EXPECT_THAT(numbers_of("hann_window", {number(1)}, {{"periodic", false}}), ElementsAre(1));
  EXPECT_EQ(run_op("hann_window", {number(2)}, {{"dtype", std::string("f64")}})[0].dtype, DType::f64);
  EXPECT_EQ(refusal("hann_window", {number(-1)}), "the size of the window is -1");
  EXPECT_THAT(refusal("hann_window", {number(1)}, {{"dtype", std::string("bool")}}), HasSubstr("'bool'"));
}

TEST(MelWeightMatrix, triangles_stay_inside_of_the_spectrum) {
  const auto mel = [](double bands, double length, double rate, double lower, double upper) {
    return run_op("mel_weight_matrix",
                  {number(bands), number(length), number(rate), f32({}, {lower}), f32({}, {upper})})[0];
  };
  const Tensor y = mel(8, 16, 8192, 0, 8192.0 / 2);
  EXPECT_EQ(y.sizes, (Ints{9, 8}));
  EXPECT_EQ(y.numbers()[0], 1);
  EXPECT_EQ(y.numbers()[8 + 2], 1);
  EXPECT_EQ(mel(2, 4, 1, -1e30, 1e30).sizes, (Ints{3, 2}));  // edges without end
  EXPECT_THAT(refusal("mel_weight_matrix", {number(2), number(4), number(0), f32({}, {0}), f32({}, {1})}),
              HasSubstr("sample_rate is 0"));
}

}  // namespace
}  // namespace nereid::ops
