// SPDX-License-Identifier: Apache-2.0
// Graph attributes of a node as regions: closed graphs whose inputs are the formal ones and what comes from outside.
#include "import/onnx/graph_names.h"
#include "import/onnx/node_view.h"

namespace nereid::import::onnx {
namespace {

constexpr int kMostRegionDepth = 64;

// What the file declares of a formal input adds its rank; its sizes may change from turn to turn.
ops::TensorType refine(ops::TensorType given, const ::onnx::ValueInfoProto& declared) {
  if (given.shape.is_ranked() || !declared.has_type()) return given;
  const Result<ops::TensorType> type = read_type(declared.type());
  if (!type.is_ok() || type->dtype != given.dtype || type->container != given.container) return given;
  if (type->shape.is_ranked())
    given.shape = Shape(std::vector<Dim>(static_cast<size_t>(type->shape.rank()), Dim::unknown()));
  return given;
}

}  // namespace

Result<const ::onnx::GraphProto*> NodeView::graph_attr(std::string_view name) const {
  NEREID_TRY(const ::onnx::AttributeProto* a, find(name, ::onnx::AttributeProto::GRAPH, false));
  return &a->g();
}

Result<std::pair<size_t, size_t>> NodeView::region_arity(std::string_view attr) const {
  NEREID_TRY(const ::onnx::GraphProto* g, graph_attr(attr));
  return std::pair(static_cast<size_t>(g->input_size()), static_cast<size_t>(g->output_size()));
}

Result<std::vector<std::shared_ptr<const graph::Graph>>> NodeView::regions(const std::vector<RegionRequest>& requests,
                                                                           std::vector<ValueId>& captures) {
  if (frame_.depth >= kMostRegionDepth)
    return invalid_argument("its graphs lie more than {} deep in each other", kMostRegionDepth);
  std::vector<const ::onnx::GraphProto*> protos;
  std::set<std::string> outside;
  for (const RegionRequest& r : requests) {
    NEREID_TRY(protos.emplace_back(), graph_attr(r.attr));
    outside.merge(free_names(*protos.back()));
  }
  // Constants are constants inside as well, of the same bytes, which the graph around them keeps alive; everything else
  // comes in through the node.
  std::vector<std::pair<std::string, ValueId>> taken, shared;
  for (const std::string& name : outside) {
    NEREID_TRY(const ValueId id, reader_.find(frame_, name).with("its graph"));
    (known(id) != nullptr ? shared : taken).emplace_back(name, id);
  }
  std::vector<std::shared_ptr<const graph::Graph>> out;
  for (size_t r = 0; r < requests.size(); ++r) {
    const ::onnx::GraphProto& proto = *protos[r];
    const std::vector<ops::TensorType>& formals = requests[r].formals;
    if (static_cast<size_t>(proto.input_size()) != formals.size())
      return invalid_argument("its graph '{}' has {} inputs and should have {}", requests[r].attr, proto.input_size(),
                              formals.size());
    auto region = std::make_shared<graph::Graph>(requests[r].attr);
    Frame inner;
    inner.opsets = frame_.opsets;
    inner.attrs = frame_.attrs;
    inner.prefix = frame_.prefix;
    inner.depth = frame_.depth + 1;
    for (size_t i = 0; i < formals.size(); ++i) {
      const auto& declared = proto.input(static_cast<int>(i));
      inner.values[declared.name()] = region->add_input(declared.name(), refine(formals[i], declared));
    }
    for (const auto& [name, id] : taken) inner.values[name] = region->add_input(name, type(id));
    for (const auto& [name, id] : shared)
      inner.values[name] = region->add_constant(name, type(id), {.parts = {*known(id)}});
    NEREID_RETURN_IF_ERROR(reader_.read_body(proto, *region, inner).with("its graph '" + requests[r].attr + "'"));
    for (const auto& output : proto.output()) {
      NEREID_TRY(const ValueId id, reader_.find(inner, output.name()));
      region->add_output(id);
    }
    out.push_back(std::move(region));
  }
  for (const auto& [name, id] : taken) captures.push_back(id);
  return out;
}

Result<std::vector<ValueId>> NodeView::emit_control(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                                    std::vector<std::shared_ptr<const graph::Graph>> regions,
                                                    size_t results) {
  std::vector<std::string> names(results, base_name());
  return graph_.add_node(op, std::move(inputs), std::move(attrs), std::move(names), std::move(regions));
}

}  // namespace nereid::import::onnx
