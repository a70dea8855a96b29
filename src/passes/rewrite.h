// SPDX-License-Identifier: Apache-2.0
// Putting a replacement in the place of a match, and sweeping a graph with the rewrites of a pass.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/picture.h"

namespace nereid::passes {

// Applies the rewrite to a match. kUnsupported or kInvalidArgument: refused, the graph is unchanged, the message is the
// reason (constants that cannot be joined, types that do not fit, an op that the target declines).
// Replaced outputs keep their names; other new results are called after the first of them.
Status apply(graph::Graph& graph, const Rewrite& rewrite, const Match& match, const Capabilities& capabilities);

// Applies the rewrites wherever they match until none does. Fired ones and, of the last sweep, refused ones are
// recorded.
Status sweep(graph::Graph& graph, const std::vector<RewriteText>& rewrites, PassContext& context);

}  // namespace nereid::passes
