// SPDX-License-Identifier: Apache-2.0
// The intermediate representation: an ordered list of nodes over typed values, in single-assignment form.
//
// Nodes are kept in a valid execution order at all times. Values are inputs (given at run time), states (memory that
// lives across runs and is mutated in place), constants (weights: views into mapped files, never copied) or results of
// one node. Types may hold symbolic dimensions. The text form (graph/text.h) is the form of every golden.
//
// A Graph is a plain value without threads of its own: one thread may change it, many may read it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "ops/op.h"
#include "ops/tensor.h"

namespace nereid::graph {

struct ValueId {
  int32_t v = -1;  // -1: an absent optional input
  bool valid() const { return v >= 0; }
  bool operator==(const ValueId&) const = default;
  auto operator<=>(const ValueId&) const = default;
};
struct NodeId {
  int32_t v = -1;
  bool valid() const { return v >= 0; }
  bool operator==(const NodeId&) const = default;
  auto operator<=>(const NodeId&) const = default;
};

// A constant's data: row blocks that are concatenated along dimension 0. One part as imported; fusing q, k and v makes
// three parts without touching a byte. All parts have the value's dtype and equal sizes in dimensions 1...
struct ConstantData {
  std::vector<ConstTensorView> parts;
};

struct Value {
  enum class Kind : uint8_t { kInput, kState, kConstant, kResult };
  std::string name;  // unique in its graph, without '%'
  ops::TensorType type;
  Kind kind = Kind::kResult;
  NodeId producer;     // for kResult
  int32_t output = 0;  // which output of the producer
  ConstantData data;   // for kConstant; may be empty in a graph read back from text (weights live elsewhere)
};

class Graph;

struct Node {
  const ops::OpDef* op = nullptr;  // null: erased
  std::vector<ValueId> inputs;  // one an argument of the op, absent optional ones invalid; variadic: as many as given
  std::vector<ValueId> outputs;
  ops::Attrs attrs;
  // One an entry of op->regions. A region is a graph of its own: what it takes from outside comes in through the node's
  // inputs (graph/control.h). Shared between copies of a graph, never changed once it is here.
  std::vector<std::shared_ptr<const Graph>> regions;
};

class Graph {
 public:
  explicit Graph(std::string name = "main") : name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  // Adding. Names are made unique by a suffix ".2", ".3", ... if taken.
  ValueId add_input(std::string name, ops::TensorType type);
  ValueId add_state(std::string name, ops::TensorType type);
  ValueId add_constant(std::string name, ops::TensorType type, ConstantData data);
  // A constant that owns its tensor, of any dtype.
  ValueId add_constant(std::string name, ops::Tensor tensor);
  // A constant that owns its bytes (the result of folding), row-major; as many as the static type needs (checked).
  ValueId add_constant_bytes(std::string name, ops::TensorType type, std::vector<std::byte> bytes);
  // Keeps a small constant's bytes inside the graph (rope frequencies, scales): f32 values, dimension sizes.
  ValueId add_constant_f32(std::string name, std::vector<float> values, std::vector<int64_t> sizes);
  // Gives a constant that was read back from text its data, in the type it has (verified later).
  void bind_constant(ValueId id, ConstantData data);
  void add_output(ValueId value);
  // Appends a node: checks arguments and attributes against the op's declaration, fills attribute defaults and infers
  // the result types. `name` names the first result (others get ".1", ".2"); errors name the op and the node.
  Result<std::vector<ValueId>> add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs = {},
                                        std::string name = {});
  // The same with a name for each result; the op must have as many results.
  Result<std::vector<ValueId>> add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                        std::vector<std::string> names);
  // A node of an op with regions (op.h): one graph a region, one name a result.
  Result<std::vector<ValueId>> add_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                        std::vector<std::string> names,
                                        std::vector<std::shared_ptr<const Graph>> regions);
  // A node whose shape rule refuses what is known of its inputs, which may never run (a branch not taken): its results
  // are unranked. If it does run, the op says what is wrong.
  Result<std::vector<ValueId>> add_doubtful_node(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs,
                                                 std::vector<std::string> names);
  // As add_node for ops with one result.
  Result<ValueId> add(std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs = {}, std::string name = {});

  // Reading.
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& states() const { return states_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  const std::vector<NodeId>& order() const { return order_; }  // live nodes in execution order
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id.v)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<size_t>(id.v)]; }
  size_t value_count() const { return values_.size(); }  // ids are dense in [0, value_count); dead ones stay
  ValueId find_value(std::string_view name) const;       // invalid if none
  std::vector<ValueId> constants() const;                // those that a node reads or that are outputs, oldest first
  std::vector<NodeId> users(ValueId id) const;           // nodes that read it, in order; cheap
  bool is_output(ValueId id) const;
  size_t position_of(NodeId id) const { return places_[static_cast<size_t>(id.v)]; }  // in the order; of live nodes

  // What the op's shape rule says of a node's results, of which it has `wanted`.
  Result<std::vector<ops::TensorType>> infer_results(const Node& node, size_t wanted) const;

  // Rewriting (passes). Positions: new nodes go before `before`. The caller keeps the order valid, or calls sort().
  Result<std::vector<ValueId>> insert_node(NodeId before, std::string_view op, std::vector<ValueId> inputs,
                                           ops::Attrs attrs = {}, std::string name = {});
  // The same for nodes with regions, one name a result.
  Result<std::vector<ValueId>> insert_node(NodeId before, std::string_view op, std::vector<ValueId> inputs,
                                           ops::Attrs attrs, std::vector<std::string> names,
                                           std::vector<std::shared_ptr<const Graph>> regions);
  // Another graph with the same inputs and outputs in a region's place.
  void set_region(NodeId id, size_t index, std::shared_ptr<const Graph> region);
  void replace_all_uses(ValueId from, ValueId to);  // in nodes and outputs
  void erase_node(NodeId id);                       // its results must be unused (checked)
  void rename(ValueId id, std::string name);
  // Sets a result's type to what a declaration or a later look says of it; the caller answers for its truth.
  void set_type(ValueId id, ops::TensorType type);
  // Re-orders nodes topologically (stable; nodes that share a state keep their order); kInternal if there is a cycle.
  Status sort();

 private:
  ValueId add_value(Value value);
  std::string unique_name(std::string name) const;
  Status bind_arguments(const ops::OpDef& op, std::vector<ValueId>& inputs) const;
  Result<std::vector<ValueId>> place_node(size_t position, std::string_view op, std::vector<ValueId> inputs,
                                          ops::Attrs attrs, std::string name, std::vector<std::string> names,
                                          std::vector<std::shared_ptr<const Graph>> regions = {},
                                          bool doubtful = false);
  std::vector<ops::TensorType> unknown_results(const Node& node, size_t wanted) const;
  void use(NodeId node);  // notes that it reads its inputs
  void place_from(size_t position);

  std::string name_;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<size_t> places_;             // where in order_, by node
  std::vector<std::vector<NodeId>> uses_;  // nodes that read it, each once and in no order, by value
  std::vector<ValueId> inputs_, states_, outputs_;
  std::unordered_map<std::string, int32_t> by_name_;
  std::vector<std::shared_ptr<const void>> owned_;  // bytes that constants made here point into; copies share them
};

}  // namespace nereid::graph
