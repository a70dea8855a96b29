// SPDX-License-Identifier: Apache-2.0
// The layers of an opened network as plain data: what runs, in order, and between which tensors.
#pragma once

#include <string>
#include <vector>

#include "compile/network.h"

namespace nereid::compile {

struct LayerTensor {
  std::string name;
  std::string type;  // "f32[1, 64, 56, 56]"
};

struct LayerInfo {
  std::string name;  // of its first result
  std::string op;
  std::vector<LayerTensor> inputs, outputs;  // constants are left out
  std::vector<std::string> constants;
};

std::vector<LayerInfo> layer_infos(const OpenedNetwork& network);

}  // namespace nereid::compile
