// SPDX-License-Identifier: Apache-2.0
// Which dimensions a reduction takes away, and where each element of its input goes.
#pragma once

#include <span>
#include <vector>

#include "ops/shape_rule.h"

namespace nereid::ops {

// Marks the named dimensions of `rank` ones; axes may be negative and repeated. No axes: all, or none if `noop`.
Result<std::vector<bool>> reduced_dimensions(std::span<const int64_t> axes, int rank, bool noop);

// The shape with the marked dimensions of size 1, or without them.
Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keep);

// Walks the elements of a tensor in order and says to which element of the reduced tensor each belongs.
class ReduceWalk {
 public:
  ReduceWalk(std::span<const int64_t> sizes, const std::vector<bool>& reduced);
  int64_t target() const { return target_; }
  void next();

 private:
  std::vector<int64_t> sizes_, index_, step_;
  int64_t target_ = 0;
};

}  // namespace nereid::ops
