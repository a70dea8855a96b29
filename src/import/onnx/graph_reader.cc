// SPDX-License-Identifier: Apache-2.0
// Nodes in running order, each by its row of the table or as a call of a function that the model brings along.
#include "import/onnx/graph_reader.h"

#include <tuple>

#include "base/interrupt.h"
#include "import/onnx/graph_names.h"
#include "import/onnx/node_view.h"

namespace nereid::import::onnx {
namespace {

constexpr int kMostDepth = 64;
constexpr int64_t kMostNodes = 2'000'000;  // functions that call functions could make any number of them

std::string describe(const ::onnx::NodeProto& node, int64_t version) {
  const std::string_view domain = canonical_domain(node.domain());
  std::string op = domain.empty() ? node.op_type() : fmt::format("{}.{}", domain, node.op_type());
  if (version > 0) op += fmt::format(" of opset {}", version);
  if (!node.name().empty()) return fmt::format("node '{}' ({})", node.name(), op);
  return node.output_size() > 0 ? fmt::format("the node that gives '{}' ({})", node.output(0), op) : op;
}

}  // namespace

std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

Opsets read_opsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& i : imports) opsets[std::string(canonical_domain(i.domain()))] = i.version();
  return opsets;
}

Result<int64_t> version_of(const Opsets& opsets, std::string_view domain) {
  const auto it = opsets.find(std::string(domain));
  if (it != opsets.end()) return it->second;
  return int64_t{1};  // files that forget to import a domain mean its first version
}

GraphReader::GraphReader(ModelStorage& storage) : storage_(storage) {
  for (const auto& f : storage.model.functions())
    functions_[{std::string(canonical_domain(f.domain())), f.name(), f.overload()}] = &f;
}

Result<ValueId> GraphReader::find(const Frame& frame, const std::string& name) const {
  const auto it = frame.values.find(name);
  if (it != frame.values.end()) return it->second;
  return invalid_argument("nothing gives the value '{}' that is read", name);
}

Result<ValueId> GraphReader::add_initializer(const ::onnx::TensorProto& tensor, graph::Graph& graph,
                                             const std::string& name) {
  ops::Tensor& storage = storage_.tensors.emplace_back();
  NEREID_TRY(const ConstTensorView view, view_tensor(tensor, storage_.files.get(), storage));
  if (storage.sizes.empty() && storage.bytes.empty() && storage.strings.empty()) storage_.tensors.pop_back();
  return graph.add_constant(name, {view.dtype, Shape::of(view.sizes)}, {.parts = {view}});
}

Status GraphReader::read_body(const ::onnx::GraphProto& proto, graph::Graph& graph, Frame& frame) {
  for (const auto& t : proto.initializer()) {
    if (frame.values.contains(t.name())) continue;  // an input that the caller gives
    NEREID_TRY(frame.values[t.name()], add_initializer(t, graph, t.name()).with("initializer"));
  }
  for (const auto& t : proto.sparse_initializer()) {
    NEREID_TRY(ops::Tensor dense, read_sparse_tensor(t, storage_.files.get()).with("sparse initializer"));
    frame.values[t.values().name()] = graph.add_constant(t.values().name(), std::move(dense));
  }
  return read_nodes(proto.node(), graph, frame);
}

Status GraphReader::read_nodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, graph::Graph& graph,
                               Frame& frame) {
  NEREID_TRY(const std::vector<int> order, running_order(nodes));
  for (int i : order) {
    NEREID_RETURN_IF_ERROR(check_interrupted());
    NEREID_RETURN_IF_ERROR(read_node(nodes[i], graph, frame));
  }
  return Status::ok();
}

Status GraphReader::read_node(const ::onnx::NodeProto& node, graph::Graph& graph, Frame& frame) {
  if (++nodes_read_ > kMostNodes)
    return exhausted("the model has more than {} nodes when its functions are put in", kMostNodes);
  const std::string domain(canonical_domain(node.domain()));
  const auto function = functions_.find({domain, node.op_type(), node.overload()});
  if (function != functions_.end()) return call_function(*function->second, node, graph, frame).with(describe(node, 0));
  NEREID_TRY(const int64_t version, version_of(*frame.opsets, domain));
  const std::string where = describe(node, version);
  NEREID_TRY(const OpRow* row, find_row(domain, node.op_type(), version).with(where));
  NodeView view(*this, node, graph, frame, version);
  NEREID_RETURN_IF_ERROR(view.prepare().with(where));
  NEREID_RETURN_IF_ERROR(import_node(*row, view).with(where));
  return view.finish().with(where);
}

// The function's nodes in the caller's graph, in a frame of their own.
Status GraphReader::call_function(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& node,
                                  graph::Graph& graph, Frame& frame) {
  if (frame.depth >= kMostDepth)
    return invalid_argument("functions and graphs lie more than {} deep in each other; does one call itself?",
                            kMostDepth);
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return invalid_argument("the function takes {} inputs and gives {} outputs, but is called with {} and {}",
                            function.input_size(), function.output_size(), node.input_size(), node.output_size());
  const Opsets opsets = read_opsets(function.opset_import());
  AttrBindings bindings;
  for (const auto& a : function.attribute_proto()) bindings[a.name()] = &a;
  for (const auto& a : node.attribute()) {
    const ::onnx::AttributeProto* value = &a;
    if (!a.ref_attr_name().empty()) {
      const auto it = frame.attrs != nullptr ? frame.attrs->find(a.ref_attr_name()) : AttrBindings::const_iterator();
      if (frame.attrs == nullptr || it == frame.attrs->end()) continue;
      value = it->second;
    }
    bindings[a.name()] = value;
  }
  Frame inner;
  inner.opsets = &opsets;
  inner.attrs = &bindings;
  inner.depth = frame.depth + 1;
  inner.prefix = frame.prefix + (node.name().empty() ? function.name() : node.name()) + "/";
  for (int i = 0; i < node.input_size(); ++i) {
    if (node.input(i).empty()) continue;
    NEREID_TRY(inner.values[function.input(i)], find(frame, node.input(i)));
  }
  // Inputs that are not given are absent wherever the function reads them.
  google::protobuf::RepeatedPtrField<::onnx::NodeProto> nodes = function.node();
  for (auto& n : nodes)
    for (auto& name : *n.mutable_input()) {
      const bool formal = std::find(function.input().begin(), function.input().end(), name) != function.input().end();
      if (formal && !inner.values.contains(name)) name.clear();
    }
  NEREID_RETURN_IF_ERROR(read_nodes(nodes, graph, inner));
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    NEREID_TRY(frame.values[node.output(i)], find(inner, function.output(i)));
  }
  return Status::ok();
}

}  // namespace nereid::import::onnx
