// SPDX-License-Identifier: Apache-2.0
// Running the ops that run graphs: if, loop, scan, sequence_map (ops/control.cc says what they take and give).
//
// Pure: how a region runs is the caller's, so that the reference interpreter and the fast runtime share the control.
#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/status.h"
#include "graph/graph.h"
#include "ops/datum.h"

namespace nereid::graph {

// Runs region `index` of the node with these inputs; one result an output of the region.
using RunRegion = FunctionRef<Result<std::vector<ops::Datum>>(size_t index, std::span<const ops::Datum* const> inputs)>;

// Absent inputs are null. kInvalidArgument: values that do not fit (a condition of two elements, lengths that differ).
// A loop without `trips` ends when its condition says so, however long that takes; `interrupted()` stops it.
Result<std::vector<ops::Datum>> run_control(const Node& node, std::span<const ops::Datum* const> inputs,
                                            RunRegion run_region);

}  // namespace nereid::graph
