// SPDX-License-Identifier: Apache-2.0
// The plain float formats as weight formats: element by element, through quant/minifloat.h.
#pragma once

#include "quant/format_table.h"

namespace nereid::quant {

DecodeFn decode_f32, decode_f64, decode_f16, decode_bf16, decode_f8e4m3, decode_f8e5m2;
EncodeFn encode_f32, encode_f64, encode_f16, encode_bf16, encode_f8e4m3, encode_f8e5m2;

}  // namespace nereid::quant
