// SPDX-License-Identifier: Apache-2.0
// dead_code: nodes whose results nobody reads leave, unless they change a state.
#include <algorithm>

#include "graph/text.h"
#include "passes/pass_list.h"

namespace nereid::passes {

Status dead_code(graph::Graph& g, PassContext& context) {
  const std::vector<graph::NodeId> order = g.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {  // readers before what they read
    const graph::NodeId id = *it;
    const graph::Node& node = g.node(id);
    if (node.outputs.empty()) continue;
    const bool changes_state = std::ranges::any_of(node.op->inputs, &ops::ArgSpec::state);
    auto unused = [&](graph::ValueId v) { return !g.is_output(v) && g.users(v).empty(); };
    if (changes_state || !std::ranges::all_of(node.outputs, unused)) continue;
    context.records.push_back({.fired = true,
                               .where = fmt::format("{} %{}", node.op->name, g.value(node.outputs[0]).name),
                               .what = "removed: nobody reads it"});
    g.erase_node(id);
  }
  return Status::ok();
}

}  // namespace nereid::passes
