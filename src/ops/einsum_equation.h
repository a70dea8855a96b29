// SPDX-License-Identifier: Apache-2.0
// The equation of an einsum as lists of labels, one list an operand and one for the result.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::ops {

// Letters stand for themselves; the dimensions of an ellipsis are 256 (the last), 257 (the one before), ...
struct EinsumEquation {
  std::vector<std::vector<int>> terms;
  std::vector<int> result;
};

// `ranks` are those of the operands: what an ellipsis stands for is what its term's letters leave.
Result<EinsumEquation> parse_einsum(std::string_view equation, std::span<const int> ranks);

}  // namespace nereid::ops
