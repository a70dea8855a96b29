// SPDX-License-Identifier: Apache-2.0
// The verifier: what every graph must satisfy between passes.
//
// Each value has one producer and its own name; nodes read only values that stand before them; results have the types
// that their op infers; attributes are complete and of the declared kinds; states are read only by arguments declared
// as such; constants' data has the constant's type.
#pragma once

#include "base/status.h"
#include "graph/graph.h"

namespace nereid::graph {

// A declared type may say more than a shape rule knows (sizes, rank), never something else.
bool may_be(const ops::TensorType& declared, const ops::TensorType& inferred);

// kInternal with a sentence that names the node or value.
Status verify(const Graph& graph);

}  // namespace nereid::graph
