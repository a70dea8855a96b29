// SPDX-License-Identifier: Apache-2.0
// Which taps the outputs of a phase read, and the band of x they lie in. Private to kernels/cpu.
#pragma once

#include "kernels/cpu/conv_plan.h"
#include "kernels/cpu/conv_transpose.h"

namespace nereid::kernels {

// One axis. Output o = stride i + phase reads position i + offset through a tap.
struct TransposeAxis {
  int64_t in, out, kernel, stride, dilation, pad;

  constexpr bool reads(int64_t phase, int64_t tap, int64_t& offset) const {
    const int64_t at = phase + pad - tap * dilation;
    offset = at / stride;
    return at % stride == 0;
  }
  int64_t taps(int64_t phase) const;
  // Outputs of a phase; phase 0 has most.
  constexpr int64_t outputs(int64_t phase) const { return out > phase ? (out - phase + stride - 1) / stride : 0; }
  // The least or the largest offset of all taps.
  int64_t edge(bool largest) const;
  // All that is read lies in x.
  bool inside() const { return edge(false) >= 0 && outputs(0) - 1 + edge(true) < in; }
  // Each output reads one tap, at its own position.
  constexpr bool is_tiling() const { return kernel == stride && dilation == 1 && pad == 0; }
};

constexpr TransposeAxis transpose_rows(const ConvShape& s) {
  return {s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top};
}
constexpr TransposeAxis transpose_columns(const ConvShape& s) {
  return {s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left};
}

// The phases of a row as one product: its columns are the pixels that one pixel of x makes.
constexpr bool transpose_is_merged(const ConvShape& s) {
  return s.groups == 1 && s.stride_w > 1 && transpose_columns(s).is_tiling() && s.out_w == s.in_w * s.stride_w;
}
// A phase's matrix is [taps channels, columns].
constexpr int64_t transpose_columns_of_phase(const ConvShape& s) {
  return s.out_c / s.groups * (transpose_is_merged(s) ? s.stride_w : 1);
}
constexpr int64_t transpose_phases_across(const ConvShape& s) {
  return transpose_is_merged(s) ? 1 : s.stride_w;
}
int64_t transpose_phase_taps(const ConvShape& s, int64_t down, int64_t across);

// Whether x is read through zero-padded copies of some of its rows, their width, and rows of a phase done at a time.
bool transpose_has_band(const ConvShape& s);
int64_t transpose_band_columns(const ConvShape& s);
int64_t transpose_block_rows(const ConvShape& s);

// Of one worker: the bias of a merged row, then the band; multiples of 64.
int64_t transpose_bias_bytes(const ConvShape& s);
int64_t transpose_worker_bytes(const ConvShape& s);

}  // namespace nereid::kernels
