// SPDX-License-Identifier: Apache-2.0
// The index of a sharded model: which file beside it holds which tensors.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace nereid::import::safetensors {

// File name -> the names of the tensors it holds. A file name has no folder in it.
using NamesByShard = std::map<std::string, std::vector<std::string>>;

// Reads the weight_map of model.safetensors.index.json; kInvalidArgument for anything else.
Result<NamesByShard> parse_index(std::string_view json);

}  // namespace nereid::import::safetensors
