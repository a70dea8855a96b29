// SPDX-License-Identifier: Apache-2.0
// The inputs of dense, conv_last and their like, by place.
#pragma once

#include <cstddef>

namespace nereid::passes {

enum LayerInput : size_t { kX, kW, kBias, kResidual };

}  // namespace nereid::passes
