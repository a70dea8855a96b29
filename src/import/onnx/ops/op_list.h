// SPDX-License-Identifier: Apache-2.0
// Declares the importers that op_table.cc lists, one line a file of this folder, in alphabetical order.
#pragma once

#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

using Importer = Status(NodeContext&);

Importer import_cast;
Importer import_constant;
Importer import_reshape;

}  // namespace nereid::import::onnx
