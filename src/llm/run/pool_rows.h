// SPDX-License-Identifier: Apache-2.0
// From the vectors of a text's tokens to one of the text.
#pragma once

#include <cstdint>
#include <vector>

#include "compile/encode_use.h"

namespace nereid::llm {

// rows [size, width], `stride` elements apart, size >= 1; appends `width` numbers to `out`. Sums run over the tokens in
// their order, in f64.
//   mean: sum / size;  mean_sqrt: sum / sqrt(size);  weighted mean: token i (from 1) weighs i
void pool_rows(compile::Pooling pooling, const float* rows, int64_t stride, int64_t size, int64_t width,
               std::vector<float>* out);

// To length 1; zeros stay.
void normalize_length(std::vector<float>* values);

}  // namespace nereid::llm
