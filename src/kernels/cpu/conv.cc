// SPDX-License-Identifier: Apache-2.0
// Packing of convolution weights, and what depends on shapes alone.
#include "kernels/cpu/conv.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/conv_plan.h"
#include "kernels/cpu/gemm.h"

namespace nereid::kernels {
namespace {

int64_t taps(const ConvShape& s) {
  return s.kernel_h * s.kernel_w;
}
int64_t padded(int64_t channels) {
  return (channels + 15) / 16 * 16;
}

// Inputs along a tile's edge; 0 for what is not Winograd.
int64_t winograd_width(ConvAlgorithm algorithm) {
  return algorithm == ConvAlgorithm::kWinograd2 ? 4 : algorithm == ConvAlgorithm::kWinograd4 ? 6 : 0;
}

constexpr double kG2[4][3] = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
constexpr double kG4[6][3] = {{1 / 4.0, 0, 0},
                              {-1 / 6.0, -1 / 6.0, -1 / 6.0},
                              {-1 / 6.0, 1 / 6.0, -1 / 6.0},
                              {1 / 24.0, 1 / 12.0, 1 / 6.0},
                              {1 / 24.0, -1 / 12.0, 1 / 6.0},
                              {0, 0, 1}};

// U = G g G^T of every pair of channels, as panels.
void pack_winograd(const ConvShape& s, int64_t t, const float* oihw, float* packed) {
  const auto* transform = t == 4 ? kG2 : kG4;
  const int64_t matrix = gemm_packed_elements(s.in_c, s.out_c);
  std::fill_n(packed, t * t * matrix, 0.0f);
  for (int64_t o = 0; o < s.out_c; ++o)
    for (int64_t c = 0; c < s.in_c; ++c) {
      const float* g = oihw + (o * s.in_c + c) * 9;
      float* to = packed + o / kPanelColumns * kPanelColumns * s.in_c + c * kPanelColumns + o % kPanelColumns;
      for (int64_t i = 0; i < t; ++i) {
        double row[3] = {};
        for (int64_t k = 0; k < 3; ++k)
          for (int64_t j = 0; j < 3; ++j) row[j] += transform[i][k] * double{g[3 * k + j]};
        for (int64_t j = 0; j < t; ++j)
          to[(i * t + j) * matrix] =
              static_cast<float>(row[0] * transform[j][0] + row[1] * transform[j][1] + row[2] * transform[j][2]);
      }
    }
}

}  // namespace

bool conv_has_algorithm(const ConvShape& s, ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return true;
    case ConvAlgorithm::kDepthwise:
      return s.groups == s.in_c && s.out_c == s.in_c;
    case ConvAlgorithm::kWinograd2:
    case ConvAlgorithm::kWinograd4:
      return s.kernel_h == 3 && s.kernel_w == 3 && s.stride_h == 1 && s.stride_w == 1 && s.dilation_h == 1 &&
             s.dilation_w == 1 && s.groups == 1;
  }
  return false;
}

ConvAlgorithm choose_conv_algorithm(const ConvShape& s) {
  if (s.in_c > 1 && conv_has_algorithm(s, ConvAlgorithm::kDepthwise)) return ConvAlgorithm::kDepthwise;
  if (!conv_has_algorithm(s, ConvAlgorithm::kWinograd4)) return ConvAlgorithm::kGemm;
  // Cycles of a core with 32 multiply-adds each, by what was measured on AVX-512: products run at 85-90 % of that or as
  // fast as weights come from the last-level cache (5 bytes a cycle), a transform of 16 channels of a tile takes 3.3
  // cycles a number.
  const double channels = static_cast<double>(s.in_c * s.out_c);
  const auto cycles = [&](int64_t t) {
    const int64_t m = t - 2;
    const auto tiles = static_cast<double>(s.batch * ((s.out_h + m - 1) / m) * ((s.out_w + m - 1) / m));
    const auto numbers = static_cast<double>(t * t);
    return numbers * std::max(tiles * channels / 27, channels * 4 / 5) +
           tiles * numbers * static_cast<double>(padded(s.in_c) + padded(s.out_c)) / 16 * 3.3;
  };
  const double direct = static_cast<double>(s.batch * s.out_h * s.out_w) * channels * 9 / 28.5;
  const double two = cycles(4), four = cycles(6);
  if (std::min(two, four) > 0.83 * direct) return ConvAlgorithm::kGemm;  // it must earn its larger weights
  return four < 0.9 * two ? ConvAlgorithm::kWinograd4 : ConvAlgorithm::kWinograd2;
}

int64_t conv_weight_elements(const ConvShape& s, ConvAlgorithm algorithm) {
  if (const int64_t t = winograd_width(algorithm)) return t * t * gemm_packed_elements(s.in_c, s.out_c);
  if (algorithm == ConvAlgorithm::kDepthwise) return taps(s) * padded(s.in_c);
  return s.groups * gemm_packed_elements(taps(s) * (s.in_c / s.groups), s.out_c / s.groups);
}

namespace {

// Calls see(i) for each element of the packed weight in order: i is the place in oihw, or -1 for a zero.
template <typename See>
void each_packed(const ConvShape& s, ConvAlgorithm algorithm, See see) {
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
  if (algorithm == ConvAlgorithm::kDepthwise) {
    for (int64_t t = 0; t < taps(s); ++t)
      for (int64_t c = 0; c < padded(s.in_c); ++c) see(c < s.in_c ? c * taps(s) + t : -1);
    return;
  }
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t first = 0; first < outputs; first += kPanelColumns)
      for (int64_t t = 0; t < taps(s); ++t)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t o = first; o < first + kPanelColumns; ++o)
            see(o < outputs ? ((g * outputs + o) * channels + c) * taps(s) + t : -1);
}

}  // namespace

void conv_pack_weight(const ConvShape& s, ConvAlgorithm algorithm, const float* oihw, float* packed) {
  if (const int64_t t = winograd_width(algorithm)) return pack_winograd(s, t, oihw, packed);
  each_packed(s, algorithm, [&](int64_t i) { *packed++ = i < 0 ? 0.0f : oihw[i]; });
}

bool conv_can_unpack(ConvAlgorithm algorithm) {
  return winograd_width(algorithm) == 0;
}

void conv_unpack_weight(const ConvShape& s, ConvAlgorithm algorithm, const float* packed, float* oihw) {
  each_packed(s, algorithm, [&](int64_t i) {
    if (i >= 0) oihw[i] = *packed;
    ++packed;
  });
}

int64_t conv_worker_bytes(const ConvShape& s, const ConvBlocking& blocking) {
  const int64_t k = taps(s) * (s.in_c / s.groups);
  switch (conv_way(s, blocking.rows)) {
    case ConvWay::kPlain:
    case ConvWay::kInPlace:
      return 0;
    case ConvWay::kBanded: {
      const int64_t rows =
          (conv_band_rows(s, blocking.band_kib) - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
      return (rows * conv_band_row_bytes(s) + 63) / 64 * 64;
    }
    case ConvWay::kGathered:
      return (conv_gather_rows(k) * conv_gather_stride(k) * 4 + 63) / 64 * 64;
  }
  return 0;
}

int64_t conv_scratch_bytes(const ConvShape& s, ConvAlgorithm algorithm, int workers, const ConvBlocking& blocking) {
  if (const int64_t t = winograd_width(algorithm)) {
    const WinogradPlan plan = winograd_plan(s, t - 2, workers, blocking.tiles);
    return plan.alone ? workers * plan.bytes : plan.bytes;
  }
  if (algorithm == ConvAlgorithm::kDepthwise) return workers * padded(s.in_c) * 4;
  return algorithm == ConvAlgorithm::kGemm ? workers * conv_worker_bytes(s, blocking) : 0;
}

}  // namespace nereid::kernels
