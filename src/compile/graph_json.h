// SPDX-License-Identifier: Apache-2.0
// A graph, and the graphs inside its nodes, as JSON: for the page that shows it (web/graph).
//
//   {"path":"","name":"main","inputs":[0],"outputs":[3],
//    "values":[{"name":"x","type":"f32[1, 3]"},{"name":"w","type":"f32[3, 8]","bytes":96,"data":"[...]"}, ...],
//    "nodes":[{"op":"dense","in":[0,1,-1],"out":[2],"attrs":{"activation":"relu"},"regions":["y/0/"]}, ...]}
// Numbers are places in `values`; -1 an input that is absent. `bytes` marks a constant, `data` its numbers if they are
// few.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "graph/graph.h"

namespace nereid::compile {

using OrderedJson = nlohmann::ordered_json;

// One object a graph, the outermost first; paths as visit_constants (graph/text.h) has them.
OrderedJson graphs_json(const graph::Graph& graph);
// What `visit` sees is what graphs_json lists.
void visit_graphs(const graph::Graph& graph,
                  const std::function<void(const std::string& path, const graph::Graph& graph)>& visit);

}  // namespace nereid::compile
