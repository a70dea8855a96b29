// SPDX-License-Identifier: Apache-2.0
// The table of all ONNX operators that can be read, one row an operator (or one a form, where forms differ much).
#pragma once

#include <span>
#include <string_view>

#include "base/status.h"
#include "import/onnx/ops/node_context.h"

namespace nereid::import::onnx {

using Importer = Status(NodeContext&);

struct OpRow {
  std::string_view name;
  int64_t since = 1;  // first version of the domain's operator set that this row reads
  // Exactly one of the two: a function, or the op of our vocabulary that has the same inputs, results and attribute
  // names (attributes are copied by name; one that the op does not declare is an error).
  Importer* import = nullptr;
  std::string_view direct = {};
  std::string_view domain = {};  // "" (the default), "ai.onnx.ml", "com.microsoft", ...
};

// Ordered by domain, name and version.
std::span<const OpRow> op_table();

// The row for an operator, or why there is none: names the nearest that is supported.
Result<const OpRow*> find_row(std::string_view domain, std::string_view name, int64_t version);

// Reads a node by its row.
Status import_node(const OpRow& row, NodeContext& node);

}  // namespace nereid::import::onnx
