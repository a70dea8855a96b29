// SPDX-License-Identifier: Apache-2.0
// Every piece of memory that a graph's constants lie in, those of its nodes' regions too.
#pragma once

#include "base/function_ref.h"
#include "base/tensor_view.h"
#include "graph/graph.h"

namespace nereid::graph {

void each_constant(const Graph& graph, FunctionRef<void(const ConstTensorView&)> see);

}  // namespace nereid::graph
