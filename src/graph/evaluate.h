// SPDX-License-Identifier: Apache-2.0
// The reference interpreter: every node by its op's evaluator, in order. Slow and right; the oracle of everything else.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "ops/datum.h"
#include "ops/tensor.h"

namespace nereid::graph {

// What a run is given, by value name. Views must outlive the call; states are changed in place.
struct Bindings {
  std::map<std::string, ConstTensorView, std::less<>> inputs;
  std::map<std::string, TensorView, std::less<>> states;
  std::map<std::string, ConstTensorView, std::less<>> constants;  // for those that carry no data
};

// Called after each node with its results, for comparing layer by layer.
using NodeHook = std::function<void(const Graph& graph, NodeId node, std::span<const ConstTensorView> results)>;

// The graph's outputs in order. Symbols take their values from the bound sizes; every shape rule runs again on the real
// sizes. Memory: the bound tensors, results until their last use, and one copy of constants in several parts.
// Errors name the node and its op, or the value that is missing or does not fit.
Result<std::vector<ops::Tensor>> evaluate(const Graph& graph, const Bindings& bindings, const NodeHook& hook = {});

// The same for graphs whose values may be sequences, optionals or maps and whose nodes may have regions
// (graph/control.h). No states. Every input must be given; a symbol is whatever size its first tensor has.
using DatumHook = std::function<void(const Graph& graph, NodeId node, std::span<const ops::Datum> results)>;
Result<std::vector<ops::Datum>> evaluate_any(const Graph& graph,
                                             const std::map<std::string, ops::Datum, std::less<>>& inputs,
                                             const DatumHook& hook = {});

// What is known of a value that is given for an input against what the graph declares: kind, dtype, rank, fixed sizes.
// An optional may be given what it holds.
Status check_input(const Value& input, const ops::TensorType& found);

// A constant's data in one piece. kNotFound if it carries none.
Result<ops::Tensor> join_parts(const Value& constant);

}  // namespace nereid::graph
