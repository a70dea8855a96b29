// SPDX-License-Identifier: Apache-2.0
// Reading a file's graphs, one node after the other, into graphs of our vocabulary. Private to import/onnx.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "import/onnx/ops/node_context.h"
#include "import/onnx/ops/op_table.h"
#include "import/onnx/tensor_proto.h"
#include "onnx-ml.pb.h"

namespace nereid::import::onnx {

// What a whole file has in common.
struct ModelStorage {
  ::onnx::ModelProto model;
  std::unique_ptr<ExternalFiles> files;
  std::deque<ops::Tensor> tensors;  // of initializers whose bytes could not be used as they lie in the file
};

using Opsets = std::map<std::string, int64_t>;
using AttrBindings = std::map<std::string, const ::onnx::AttributeProto*, std::less<>>;

// Where names are looked up while a list of nodes is read: one a graph, one a call of a model's own function.
struct Frame {
  std::unordered_map<std::string, ValueId> values;
  const Opsets* opsets = nullptr;
  const AttrBindings* attrs = nullptr;  // what a function's nodes may refer to; null outside functions
  std::string prefix;                   // of names inside a function
  int depth = 0;                        // of graphs and calls inside each other
};

class GraphReader {
 public:
  explicit GraphReader(ModelStorage& storage);

  // Reads initializers and nodes of the model's graph into `graph`; its inputs are in `frame` already.
  Status read_body(const ::onnx::GraphProto& proto, graph::Graph& graph, Frame& frame);
  Status read_nodes(const google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, graph::Graph& graph,
                    Frame& frame);
  // A constant of the graph; its bytes stay where they are.
  Result<ValueId> add_initializer(const ::onnx::TensorProto& tensor, graph::Graph& graph, const std::string& name);
  Result<ValueId> find(const Frame& frame, const std::string& name) const;
  ModelStorage& storage() { return storage_; }

 private:
  Status read_node(const ::onnx::NodeProto& node, graph::Graph& graph, Frame& frame);
  Status call_function(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& node, graph::Graph& graph,
                       Frame& frame);

  ModelStorage& storage_;
  std::map<std::tuple<std::string, std::string, std::string>, const ::onnx::FunctionProto*> functions_;
  int64_t nodes_read_ = 0;
};

// "" and "ai.onnx" are one domain.
std::string_view canonical_domain(std::string_view domain);
Result<int64_t> version_of(const Opsets& opsets, std::string_view domain);
Opsets read_opsets(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports);

}  // namespace nereid::import::onnx
