// SPDX-License-Identifier: Apache-2.0
// Which precision single layers multiply in: the attribute `precision` of dense and conv_last.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace nereid::passes {

// Results of the layers of an optimised graph that have the attribute, in order.
std::vector<std::string> layers_with_precision(const graph::Graph& graph);

// Sets it for the layers whose result is named: "f32", "bf16", or "" for what the network says. Names that are none of
// such layers are kNotFound.
Status set_layer_precision(graph::Graph& graph, const std::set<std::string, std::less<>>& results,
                           std::string_view precision);

}  // namespace nereid::passes
