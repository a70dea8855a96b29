// SPDX-License-Identifier: Apache-2.0
#include "passes/layer_precision.h"

#include "passes/edit.h"

namespace nereid::passes {
namespace {

bool has_precision(const graph::Node& node) {
  return node.op->name == "dense" || node.op->name == "conv_last";
}

}  // namespace

std::vector<std::string> layers_with_precision(const graph::Graph& graph) {
  std::vector<std::string> out;
  for (const graph::NodeId id : graph.order())
    if (has_precision(graph.node(id))) out.push_back(graph.value(graph.node(id).outputs[0]).name);
  return out;
}

Status set_layer_precision(graph::Graph& graph, const std::set<std::string, std::less<>>& results,
                           std::string_view precision) {
  const Capabilities everything;
  std::vector<Record> records;
  PassContext context{everything, records};
  Edit edit(graph, context);
  for (const std::string& name : results) {
    const graph::ValueId result = graph.find_value(name);
    const graph::NodeId id = result.valid() ? graph.value(result).producer : graph::NodeId{};
    if (!id.valid() || !has_precision(graph.node(id)))
      return not_found("there is no product or convolution whose result is '{}'", name);
    const graph::Node node = graph.node(id);
    ops::Attrs attrs = node.attrs;
    attrs.set("precision", std::string(precision));
    NEREID_TRY(const graph::ValueId y, edit.insert(id, node.op->name, node.inputs, std::move(attrs)));
    NEREID_RETURN_IF_ERROR(edit.replace(result, y));
  }
  return Status::ok();
}

}  // namespace nereid::passes
