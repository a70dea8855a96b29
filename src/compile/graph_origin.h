// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph became which nodes of the graph that the passes made of it.
//
// Passes keep the names of values (passes/README.md), so the names tell: what a node afterwards computes is everything
// before that leads to its results without passing a value that is still there.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/graph.h"

namespace nereid::compile {

// For each node of `after`, by its place in the order, the places in the order of `before`, ascending. Empty: the
// passes made it (a transposition). At most kMostOrigins a node.
inline constexpr size_t kMostOrigins = 400;
std::vector<std::vector<size_t>> graph_origins(const graph::Graph& before, const graph::Graph& after);

}  // namespace nereid::compile
