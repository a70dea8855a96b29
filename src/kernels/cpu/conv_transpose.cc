// SPDX-License-Identifier: Apache-2.0
// Packing of transposed convolutions' weights, phase by phase.
#include "kernels/cpu/conv_transpose.h"

#include <algorithm>

#include "kernels/cpu/conv_transpose_plan.h"
#include "kernels/cpu/gemm.h"

namespace nereid::kernels {

int64_t TransposeAxis::taps(int64_t phase) const {
  int64_t count = 0, offset = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) count += reads(phase, tap, offset);
  return count;
}

int64_t TransposeAxis::edge(bool largest) const {
  int64_t best = 0, offset = 0;
  bool any = false;
  for (int64_t phase = 0; phase < stride; ++phase)
    for (int64_t tap = 0; tap < kernel; ++tap) {
      if (!reads(phase, tap, offset)) continue;
      if (!any || (largest ? offset > best : offset < best)) best = offset;
      any = true;
    }
  return best;
}

int64_t transpose_phase_taps(const ConvShape& s, int64_t down, int64_t across) {
  return transpose_rows(s).taps(down) * (transpose_is_merged(s) ? 1 : transpose_columns(s).taps(across));
}

bool transpose_has_band(const ConvShape& s) {
  return !transpose_rows(s).inside() || !transpose_columns(s).inside();
}

int64_t transpose_band_columns(const ConvShape& s) {
  const TransposeAxis w = transpose_columns(s);
  return w.outputs(0) + w.edge(true) - w.edge(false);
}

namespace {

int64_t band_row_bytes(const ConvShape& s) {
  return transpose_band_columns(s) * conv_band_pixel(s.in_c / s.groups) * 4;
}
// Rows of x beside those of the outputs.
int64_t more_rows(const ConvShape& s) {
  return transpose_rows(s).edge(true) - transpose_rows(s).edge(false);
}

}  // namespace

int64_t transpose_block_rows(const ConvShape& s) {
  return std::max<int64_t>(1, kConvBandBytes / band_row_bytes(s) - more_rows(s));
}

int64_t transpose_bias_bytes(const ConvShape& s) {
  return transpose_is_merged(s) ? (s.stride_w * s.out_c * 4 + 63) / 64 * 64 : 0;
}

int64_t transpose_worker_bytes(const ConvShape& s) {
  const int64_t rows = transpose_has_band(s) ? transpose_block_rows(s) + more_rows(s) : 0;
  return transpose_bias_bytes(s) + (rows * band_row_bytes(s) + 63) / 64 * 64;
}

bool conv_transpose_fits(const ConvShape& s) {
  for (int64_t down = 0; down < s.stride_h; ++down)
    for (int64_t across = 0; across < transpose_phases_across(s); ++across)
      if (transpose_phase_taps(s, down, across) > kMostTransposeTaps) return false;
  return true;
}

bool conv_transpose_joins_columns(const ConvShape& s) {
  return transpose_is_merged(s);
}

int64_t conv_transpose_weight_elements(const ConvShape& s) {
  const int64_t channels = s.in_c / s.groups;
  int64_t sum = 0;
  for (int64_t down = 0; down < s.stride_h; ++down)
    for (int64_t across = 0; across < transpose_phases_across(s); ++across)
      sum += gemm_packed_elements(transpose_phase_taps(s, down, across) * channels, transpose_columns_of_phase(s));
  return sum * s.groups;
}

void conv_transpose_pack_weight(const ConvShape& s, const float* iohw, float* packed) {
  const int64_t channels = s.in_c / s.groups, outputs = s.out_c / s.groups, columns = transpose_columns_of_phase(s);
  const bool merged = transpose_is_merged(s);
  const TransposeAxis h = transpose_rows(s), w = transpose_columns(s);
  int64_t unused = 0;
  for (int64_t group = 0; group < s.groups; ++group)
    for (int64_t down = 0; down < s.stride_h; ++down)
      for (int64_t across = 0; across < transpose_phases_across(s); ++across)
        for (int64_t first = 0; first < columns; first += kPanelColumns)
          for (int64_t kh = 0; kh < s.kernel_h; ++kh) {
            if (!h.reads(down, kh, unused)) continue;
            for (int64_t kw = 0; kw < (merged ? 1 : s.kernel_w); ++kw) {
              if (!merged && !w.reads(across, kw, unused)) continue;
              for (int64_t c = 0; c < channels; ++c)
                for (int64_t n = first; n < first + kPanelColumns; ++n) {
                  const int64_t o = n % outputs, tap = kh * s.kernel_w + (merged ? n / outputs : kw);
                  const int64_t row = (group * channels + c) * outputs + o;
                  *packed++ = n < columns ? iohw[row * s.kernel_h * s.kernel_w + tap] : 0.0f;
                }
            }
          }
}

int64_t conv_transpose_scratch_bytes(const ConvShape& s, int workers) {
  return workers * transpose_worker_bytes(s);
}

}  // namespace nereid::kernels
