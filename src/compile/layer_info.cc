// SPDX-License-Identifier: Apache-2.0
#include "compile/layer_info.h"

namespace nereid::compile {

std::vector<LayerInfo> layer_infos(const OpenedNetwork& network) {
  const graph::Graph& g = network.network->graph();
  std::vector<LayerInfo> layers;
  for (const graph::NodeId id : g.order()) {
    const graph::Node& node = g.node(id);
    LayerInfo layer{.name = {}, .op = std::string(node.op->name), .inputs = {}, .outputs = {}, .constants = {}};
    for (const graph::ValueId in : node.inputs) {
      if (!in.valid()) continue;
      const graph::Value& v = g.value(in);
      if (v.data.parts.empty())
        layer.inputs.push_back({v.name, v.type.to_string()});
      else
        layer.constants.push_back(v.name);
    }
    for (const graph::ValueId o : node.outputs) layer.outputs.push_back({g.value(o).name, g.value(o).type.to_string()});
    if (!layer.outputs.empty()) layer.name = layer.outputs[0].name;
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace nereid::compile
