// SPDX-License-Identifier: Apache-2.0
// The nodes of an ONNX file as the file has them: which name and operator stand behind a value of the imported graph.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace nereid::import::onnx {

struct SourceNode {
  std::string name;  // "" where the file gives none
  std::string op, domain;
  std::vector<std::string> outputs;  // names of values; absent ones are ""
};

// Those of graphs inside nodes follow the node around them; those of the file's functions are left out. Errors: the
// file cannot be read, or is no ONNX model.
Result<std::vector<SourceNode>> source_nodes(const std::string& path);

}  // namespace nereid::import::onnx
