// SPDX-License-Identifier: Apache-2.0
// How floats become floats of fewer bits where the op has a say in it: what happens to numbers that are too large, and
// which power of two stands for a number in f8e8m0.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "base/status.h"
#include "base/tensor_view.h"

namespace nereid::ops {

enum class ScaleRounding { kUp, kDown, kNearest };                             // halves up
std::optional<ScaleRounding> scale_rounding_from_name(std::string_view name);  // "up", "down", "nearest"

struct FloatRounding {
  bool saturate = true;  // of the f8 kinds: numbers past the largest become the largest, else an infinity or no number
  ScaleRounding scale = ScaleRounding::kUp;
};

bool is_f8(DType dtype);  // f8e4m3, f8e5m2, f8e4m3fnuz, f8e5m2fnuz, f8e8m0

// f32 with its last bit set where bits were cut off: rounding that again to fewer than 23 bits of mantissa gives what
// rounding the double at once would give.
float round_to_odd(double value);

// As many values as dst, of any float type, has elements (checked). Of f4e2m1, which has none, no number is -0, as in
// ONNX's tests.
void store_rounded(const TensorView& dst, std::span<const float> values, const FloatRounding& rounding);

}  // namespace nereid::ops
