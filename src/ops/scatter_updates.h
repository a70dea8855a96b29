// SPDX-License-Identifier: Apache-2.0
// What the scattering ops share: pieces of the updates, each with its place, put there or combined with what is there.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ops/op.h"

namespace nereid::ops {

inline constexpr AttrSpec kReductionAttr = {"reduction", AttrSpec::Kind::kString, "none",
                                            "how an update meets what is there: none (it replaces it), add, mul, max, "
                                            "min"};

// Refuses an unknown reduction.
Status check_reduction(const Attrs& attrs, DType dtype);

// y = x, then one piece of `count` elements of updates after the other into y, beginning at its place.
Status scatter(const TensorView& y, const ConstTensorView& x, const ConstTensorView& updates,
               const std::vector<int64_t>& places, int64_t count, std::string_view reduction);

}  // namespace nereid::ops
