// SPDX-License-Identifier: Apache-2.0
// What passes see of quantised values: codes with the scale and zero point that say which numbers they stand for.
#pragma once

#include <optional>
#include <vector>

#include "passes/edit.h"

namespace nereid::passes {

// (codes - zero) * scale. Scales are f32, codes u8 or i8, without blocks.
struct Codes {
  graph::ValueId codes, scale, zero;  // the zero point may be absent
  int64_t axis = 0;                   // from 0, along which scales differ
  bool one = true;                    // there is one scale
};

// Of an f32 value that dequantize_linear makes.
std::optional<Codes> dequantised(const Edit& edit, graph::ValueId v);
// What quantize_linear makes of an f32 value with one scale.
std::optional<Codes> quantised(const Edit& edit, const graph::Node& node);
// One scale and zero point, both known; the zero point is 0 where it is absent.
struct Grid {
  DType dtype = DType::u8;
  double scale = 1, zero = 0;
  bool operator==(const Grid&) const = default;
};
std::optional<Grid> grid_of(const Edit& edit, const Codes& codes);

// A constant, or codes that are, dequantised: what a layer's weights may be.
bool is_weight_value(const Edit& edit, graph::ValueId v);
// Scalars for them.
graph::ValueId scale_constant(Edit& edit, const std::string& name, double scale);
graph::ValueId zero_constant(Edit& edit, const std::string& name, DType dtype, double zero);

}  // namespace nereid::passes
