// SPDX-License-Identifier: Apache-2.0
#include "graph/each_constant.h"

namespace nereid::graph {

void each_constant(const Graph& graph, FunctionRef<void(const ConstTensorView&)> see) {
  for (ValueId id : graph.constants())
    for (const ConstTensorView& part : graph.value(id).data.parts) see(part);
  for (NodeId id : graph.order())
    for (const std::shared_ptr<const Graph>& region : graph.node(id).regions) each_constant(*region, see);
}

}  // namespace nereid::graph
