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

}  // namespace

bool conv_has_algorithm(const ConvShape& s, ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kGemm:
      return true;
    case ConvAlgorithm::kDepthwise:
      return s.groups == s.in_c && s.out_c == s.in_c;
    case ConvAlgorithm::kWinograd:
      return false;
  }
  return false;
}

ConvAlgorithm choose_conv_algorithm(const ConvShape& s) {
  if (s.in_c > 1 && conv_has_algorithm(s, ConvAlgorithm::kDepthwise)) return ConvAlgorithm::kDepthwise;
  return ConvAlgorithm::kGemm;
}

int64_t conv_weight_elements(const ConvShape& s, ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::kDepthwise) return taps(s) * padded(s.in_c);
  return s.groups * gemm_packed_elements(taps(s) * (s.in_c / s.groups), s.out_c / s.groups);
}

void conv_pack_weight(const ConvShape& s, ConvAlgorithm algorithm, const float* oihw, float* packed) {
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups;
  if (algorithm == ConvAlgorithm::kDepthwise) {
    for (int64_t t = 0; t < taps(s); ++t)
      for (int64_t c = 0; c < padded(s.in_c); ++c) *packed++ = c < s.in_c ? oihw[c * taps(s) + t] : 0.0f;
    return;
  }
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t first = 0; first < outputs; first += kPanelColumns)
      for (int64_t t = 0; t < taps(s); ++t)
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t j = 0; j < kPanelColumns; ++j) {
            const int64_t o = first + j;
            *packed++ = o < outputs ? oihw[((g * outputs + o) * channels + c) * taps(s) + t] : 0.0f;
          }
}

int64_t conv_worker_bytes(const ConvShape& s) {
  const int64_t k = taps(s) * (s.in_c / s.groups);
  switch (conv_way(s)) {
    case ConvWay::kPlain:
    case ConvWay::kInPlace:
      return 0;
    case ConvWay::kBanded: {
      const int64_t rows = (conv_band_rows(s) - 1) * s.stride_h + (s.kernel_h - 1) * s.dilation_h + 1;
      return (rows * conv_band_row_bytes(s) + 63) / 64 * 64;
    }
    case ConvWay::kGathered:
      return (conv_gather_rows(k) * conv_gather_stride(k) * 4 + 63) / 64 * 64;
  }
  return 0;
}

int64_t conv_scratch_bytes(const ConvShape& s, ConvAlgorithm algorithm, int workers) {
  return algorithm == ConvAlgorithm::kGemm ? workers * conv_worker_bytes(s) : 0;
}

}  // namespace nereid::kernels
