// SPDX-License-Identifier: Apache-2.0
// The canonical group form: every block format as unsigned codes with a scale (and a minimum) per group of a row.
//
//   w[i] = scale[g] * (codes[i] - zero) + min[g],   g = i / group
//
// where `zero` is one integer per format and `min` exists only where has_min. What a format stores as 2-level scales,
// split bits or value tables is unfolded here, so that whoever packs weights (kernels, engine) knows one form only.
//
// Exactness: a format's own scales have at most 11 + 7 significant bits and codes - zero at most 7 more in q8_0 and
// iq4_nl, 5 in the others, so every product is exact in f32 and a weight is rounded once, where min is added. The group
// form therefore gives the very bits of Format::decode, in any order of evaluation and with or without fused
// multiply-add.
#pragma once

#include <cstdint>

namespace nereid::quant {

struct GroupForm {
  int16_t group = 0;      // elements that share a scale: 16 or 32; 0 for formats without a group form (f32, f16, ...)
  int16_t code_bits = 0;  // codes are below 2^code_bits: 2 to 8; up to 4 fit a nibble
  int16_t zero = 0;  // the code of weight 0 (before min): 8 for q4_0, 128 for q8_0 (stored as q + 128), 0 if has_min
  bool has_min = false;
};

// Unfolds n elements (whole blocks) of a row: codes[n], scale[n / group], min[n / group] (not touched if !has_min; may
// then be null).
using CodesFn = void(const void* row, int64_t n, uint8_t* codes, float* scale, float* min);

}  // namespace nereid::quant
