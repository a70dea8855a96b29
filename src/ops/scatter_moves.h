// SPDX-License-Identifier: Apache-2.0
// What the scattering ops share: a list of pieces of the updates, each with its place, put there or combined with what
// is there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

struct ScatterMove {
  int64_t dst, src;
};

inline constexpr AttrSpec kReductionAttr = {"reduction", AttrSpec::Kind::kString, "none",
                                            "how an update meets what is there: none (it replaces it), add, mul, max, "
                                            "min"};

// Refuses an unknown reduction.
Status check_reduction(const Attrs& attrs, DType dtype);

// y = x, then each move's `count` elements from updates into y, one after the other.
Status scatter(const TensorView& y, const ConstTensorView& x, const ConstTensorView& updates,
               const std::vector<ScatterMove>& moves, int64_t count, std::string_view reduction);

}  // namespace nereid::ops
