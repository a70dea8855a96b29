// SPDX-License-Identifier: Apache-2.0
// A node of the file as its importer sees it. Private to import/onnx.
#pragma once

#include "import/onnx/graph_reader.h"

namespace nereid::import::onnx {

class NodeView final : public NodeContext {
 public:
  NodeView(GraphReader& reader, const ::onnx::NodeProto& node, graph::Graph& graph, Frame& frame, int64_t version);

  // Looks the inputs up.
  Status prepare();
  // Gives the outputs their names in the frame; an output that nothing was given to is an error.
  Status finish();

  std::string_view op_type() const override { return node_.op_type(); }
  std::string_view domain() const override { return canonical_domain(node_.domain()); }
  int64_t version() const override { return version_; }
  size_t input_count() const override { return inputs_.size(); }
  ValueId input(size_t i) const override { return i < inputs_.size() ? inputs_[i] : ValueId{}; }
  size_t output_count() const override { return outputs_.size(); }
  bool wants_output(size_t i) const override;
  const ops::TensorType& type(ValueId id) const override { return graph_.value(id).type; }
  const ConstTensorView* known(ValueId id) const override;

  bool has_attr(std::string_view name) const override { return find(name) != nullptr; }
  std::vector<std::string> attr_names() const override;
  Result<int64_t> integer(std::string_view name, std::optional<int64_t> fallback) const override;
  Result<double> real(std::string_view name, std::optional<double> fallback) const override;
  Result<std::string> text(std::string_view name, std::optional<std::string> fallback) const override;
  Result<std::vector<int64_t>> integers(std::string_view name,
                                        std::optional<std::vector<int64_t>> fallback) const override;
  Result<std::vector<double>> reals(std::string_view name, std::optional<std::vector<double>> fallback) const override;
  Result<std::vector<std::string>> texts(std::string_view name,
                                         std::optional<std::vector<std::string>> fallback) const override;
  Result<ops::Tensor> tensor(std::string_view name) const override;
  Result<DType> dtype(std::string_view name, std::optional<DType> fallback) const override;
  Result<ops::TensorType> type_attr(std::string_view name) const override;

  Result<std::vector<ValueId>> emit_all(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                        size_t results) override;
  ValueId constant(ops::Tensor tensor) override;
  void give(size_t output, ValueId value) override;
  Result<std::vector<std::shared_ptr<const graph::Graph>>> regions(const std::vector<RegionRequest>& requests,
                                                                   std::vector<ValueId>& captures) override;
  Result<std::pair<size_t, size_t>> region_arity(std::string_view attr) const override;
  Result<std::vector<ValueId>> emit_control(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                            std::vector<std::shared_ptr<const graph::Graph>> regions,
                                            size_t results) override;

 private:
  // With references of a function's nodes followed; null if it is not there.
  const ::onnx::AttributeProto* find(std::string_view name) const;
  Result<const ::onnx::AttributeProto*> find(std::string_view name, ::onnx::AttributeProto::AttributeType kind,
                                             bool optional) const;
  Result<const ::onnx::GraphProto*> graph_attr(std::string_view name) const;
  // Computes a node on constants now; nothing if it is too large or cannot be computed.
  std::optional<std::vector<ValueId>> fold(const ops::OpDef& op, const std::vector<ValueId>& inputs,
                                           const ops::Attrs& attrs);
  std::string base_name() const;

  GraphReader& reader_;
  const ::onnx::NodeProto& node_;
  graph::Graph& graph_;
  Frame& frame_;
  int64_t version_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  size_t values_before_ = 0;  // of the graph: what was added since is this node's own
};

}  // namespace nereid::import::onnx
