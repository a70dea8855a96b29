// SPDX-License-Identifier: Apache-2.0
// What is known of sizes before a run: every size that no shape rule tells gets a name of its own, so that two sizes of
// one name are surely equal, and small tensors of integers are followed as lists of sizes (shape -> gather -> concat ->
// reshape).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/edit.h"

namespace nereid::passes {

class Symbolic {
 public:
  explicit Symbolic(Edit& edit);
  // Gives the node's results the best types that can be told; nodes must come in order.
  void visit(graph::NodeId id);
  // The elements of an integer tensor, in order, where all are known as numbers or sizes.
  const std::vector<Dim>* values(graph::ValueId v);
  // Where a size can be looked up in a run: the first value that has it, and in which dimension.
  struct Source {
    graph::ValueId value;
    int64_t dim = 0;
  };
  std::optional<Source> source(const Dim& size) const;
  // `to` has taken the place of `from`.
  void moved(graph::ValueId from, graph::ValueId to);

 private:
  using List = std::vector<Dim>;
  Dim named(const std::string& key);         // a size: at least 0
  Dim named_number(const std::string& key);  // any integer
  bool is_size(const Dim& d) const;          // surely not negative
  std::string describe(const graph::Node& node) const;
  std::optional<Shape> shape_from_values(const graph::Node& node);
  std::optional<Shape> reshaped(const graph::Node& node, const List& wanted);
  std::string window_key(const graph::Node& node, int d) const;
  std::optional<List> compute(const graph::Node& node, size_t output);
  std::optional<List> arithmetic(const graph::Node& node);

  Edit& edit_;
  graph::Graph& g_;
  void note_sources(graph::ValueId v);

  std::map<std::string, Dim> names_;
  std::optional<Shape> sliced(const graph::Node& node);
  std::optional<Dim> broadcast_dim(const graph::Node& node, int rank, int d);

  std::map<std::string, Source> sources_;
  std::map<std::string, Dim> capped_;      // of min(n, size) with a number n above 1: the size
  std::set<std::string> taken_, numbers_;  // symbols that exist; those that may be negative
  std::map<int32_t, List> values_;
};

}  // namespace nereid::passes
