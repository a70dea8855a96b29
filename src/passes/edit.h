// SPDX-License-Identifier: Apache-2.0
// What passes that are code share: looking at what makes a value, and putting another value in its place.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/attr_text.h"
#include "passes/pass.h"

namespace nereid::passes {

class Edit {
 public:
  Edit(graph::Graph& graph, PassContext& context) : g_(graph), context_(context) {}
  graph::Graph& graph() { return g_; }
  const graph::Graph& graph() const { return g_; }

  // ---- reading ----
  const graph::Value& value(graph::ValueId v) const { return g_.value(v); }
  const ops::TensorType& type(graph::ValueId v) const { return g_.value(v).type; }
  int rank(graph::ValueId v) const { return type(v).shape.rank(); }
  // The node whose first result v is, if it is of this op; else null. Null for absent values.
  const graph::Node* made_by(graph::ValueId v, std::string_view op) const;
  const graph::Node* maker(graph::ValueId v) const;  // of any op; null for inputs and constants
  bool is_constant(graph::ValueId v) const;          // with or without data
  bool has_data(graph::ValueId v) const;             // a constant whose data is here
  // The elements of a constant of numbers; nothing if it is none or has more than `most`.
  std::optional<std::vector<double>> numbers(graph::ValueId v, int64_t most = int64_t{1} << 40) const;
  std::optional<std::vector<int64_t>> integers(graph::ValueId v) const;
  // A constant of one element.
  std::optional<double> scalar(graph::ValueId v) const;
  bool is_scalar(graph::ValueId v, double wanted, double tolerance = 1e-4) const;
  // Read by one node, and no output.
  bool single_use(graph::ValueId v) const { return !g_.is_output(v) && g_.users(v).size() == 1; }
  // A plain tensor of known rank.
  bool is_ranked(graph::ValueId v) const { return type(v).is_tensor() && type(v).shape.is_ranked(); }

  // ---- changing ----
  // A new node before `before` with one result. Refused (kUnsupported) where the target declines it.
  Result<graph::ValueId> insert(graph::NodeId before, std::string_view op, std::vector<graph::ValueId> inputs,
                                ops::Attrs attrs = {}, std::string name = {});
  // A constant of numbers rounded to a dtype.
  graph::ValueId constant(std::string name, DType dtype, std::vector<int64_t> sizes, const std::vector<double>& values);
  graph::ValueId constant_integers(std::string name, const std::vector<int64_t>& values);
  // Readers of `from` read `to` instead, which takes over its name if it was made just now; nodes that nobody reads any
  // more leave. Refused if the types contradict each other, or if an output of the graph would lose its name.
  Status replace(graph::ValueId from, graph::ValueId to);
  // `to` takes over the name of `from`, if nobody reads that any more.
  void take_name(graph::ValueId from, graph::ValueId to);
  // Nodes that nobody reads leave: this one, then those it read.
  void erase_unused(graph::NodeId node);

  // ---- telling ----
  std::string where(graph::NodeId node) const;  // "conv %y"
  std::string where(graph::ValueId v) const { return where(g_.value(v).producer); }
  void fired(std::string where, std::string what);
  void refused(std::string where, std::string why);
  // One of the two, by the status: `what` is the value that stands there now.
  void record(std::string where, const Status& status, std::string what);

 private:
  graph::Graph& g_;
  PassContext& context_;
};

// Sizes that are surely the same: numbers, or one symbol that is not unknown.
bool same_size(const Dim& a, const Dim& b);
bool same_shape(const Shape& a, const Shape& b);  // both ranked
// What both say together; nothing if they contradict each other.
std::optional<ops::TensorType> merge_types(const ops::TensorType& a, const ops::TensorType& b);
// reshape's attribute that makes `to` of `from`; nothing if it cannot be said.
std::optional<std::vector<int64_t>> reshape_shape(const Shape& from, const Shape& to);
// A constant's numbers that broadcast to `shape` and differ along one axis (counted from 0) alone: one, or as many as
// there are. Nothing otherwise.
std::optional<std::vector<double>> along_axis(const Edit& edit, graph::ValueId constant, const Shape& shape, int axis);

}  // namespace nereid::passes
