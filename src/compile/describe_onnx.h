// SPDX-License-Identifier: Apache-2.0
// An ONNX file as a description: what it is, and which of its operators can be read. Private to compile/.
#pragma once

#include <string>

#include "compile/describe.h"

namespace nereid::compile {

// Files whose operators cannot all be read are described too; `problems` names the operators.
Result<Description> describe_onnx(const std::string& path, const DescribeOptions& options);
// What the engine of a network says of it; takes "inputs", "outputs" and "aliases" out of `info`.
DescribedNetwork describe_engine_network(Json& info);
// The graph's text as imported, or after the passes.
Result<std::string> onnx_graph_text(const std::string& path, GraphStage stage);

}  // namespace nereid::compile
