// SPDX-License-Identifier: Apache-2.0
// The formats that weights may be stored in, one row each: how to read, write and measure them.
//
// Rows are contiguous: n elements of a row are n / block_elements blocks (base/dtype.h). All functions want n to be a
// whole number of blocks, allocate nothing, and may run on any thread. They are the reference that kernels are tested
// against, not the fast path.
#pragma once

#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "base/status.h"
#include "quant/group_codes.h"

namespace nereid::quant {

// row -> dst[n].
using DecodeFn = void(const void* row, float* dst, int64_t n);
// src[n] -> row. Finite values give the format's best effort in the least-squares sense; of NaN and infinities only
// the float formats keep the meaning, block formats store some finite value.
using EncodeFn = void(const float* src, void* row, int64_t n);
// The sum of row[i] * x[i], products and sum in f64.
using DotFn = double(const void* row, const float* x, int64_t n);

struct Format {
  DType dtype;
  DecodeFn* decode;
  EncodeFn* encode;
  DotFn* dot;
  GroupForm form;  // form.group is 0 and codes is null for the plain floats
  CodesFn* codes;

  bool has_group_form() const { return codes != nullptr; }
  double bits_per_weight() const { return 8.0 * dtype_info(dtype).block_bytes / dtype_info(dtype).block_elements; }
};

// The row of a float or block format; kUnsupported, naming the ones that have a row, for integers, booleans, strings.
Result<const Format*> find_format(DType dtype);
// The same for a dtype known to have a row (checked).
const Format& format(DType dtype);
// Every row, in the order of DType.
std::span<const Format> all_formats();

}  // namespace nereid::quant
