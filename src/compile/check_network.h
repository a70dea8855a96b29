// SPDX-License-Identifier: Apache-2.0
// A network compared with something else that computes the same, value by value: `nereid check`.
//
// Values are matched by name: the importer keeps the names of the file, and a layer that passes have fused carries the
// name of the last result that went into it. What a pass has made itself (a transposition, a folded constant) has a
// name of its own and is not compared; the value that it leads to is. Codes of calibrated layers are compared as the
// numbers that they stand for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "compile/compare_values.h"
#include "compile/network_session.h"

namespace nereid::compile {

using NamedValues = std::map<std::string, ops::Datum, std::less<>>;
using ValueSink = std::function<Status(const std::string& name, const ops::Datum& value)>;

// Something that computes a network's values and hands them out.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  virtual std::string what() const = 0;             // "the reference evaluators"
  virtual std::set<std::string> names() const = 0;  // of the values that it can hand out
  // Computes once and hands out those values that are wanted, in any order.
  virtual Status run(const NamedValues& inputs, const std::set<std::string>& wanted, const ValueSink& sink) = 0;
};

// Every node by its op's evaluator; `storage` keeps the graph's constants alive.
std::unique_ptr<ValueSource> reference_values(graph::Graph graph, std::shared_ptr<const void> storage);
// As the runtime computes them: in a copy of the network in which the values that are wanted are outputs. Other
// contexts of the network know nothing of it.
std::unique_ptr<ValueSource> network_values(OpenedNetwork network, std::string what, ThreadPool& pool);

struct CheckedValue {
  std::string name;
  std::string op, kernel;  // of the layer that makes it, as the optimised network has it; the kernel if it is known
  std::string type;        // with the sizes of this run
  ValueDifference difference;
  bool within = true, is_output = false;
  // Values compared from which it is computed with none compared in between, and the nodes of the file's graph there.
  std::vector<std::string> inputs, sources;
};

struct CheckReport {
  std::vector<CheckedValue> values;  // in the order of the network checked
  std::optional<size_t> first;       // past the tolerance, in `values`
  std::vector<std::string> unlike;   // values whose sizes or types differ by intention of a pass: not compared
  int64_t not_compared = 0;          // results of layers that the other side has no value for
  const CheckedValue* find(std::string_view name) const;
};

struct CheckRequest {
  const OpenedNetwork& network;  // what is checked
  const graph::Graph& plain;     // its graph before the passes: for the names of source nodes
  const NamedValues& inputs;
  Tolerance tolerance;
};

// Errors: those of running either side; kInvalidArgument when an output has no counterpart.
Result<CheckReport> check_network(const CheckRequest& request, ValueSource& expected, ThreadPool& pool);

// The graph of a session's model before the passes, with the sizes of the session's values: of an ONNX file. An engine
// has only the one after them.
struct PlainGraph {
  graph::Graph graph;
  std::shared_ptr<const void> storage;  // of its constants
};
Result<PlainGraph> plain_graph(const std::string& model, const NetworkSession& session);

// The nodes of `plain` that lead from `known` values to `name`, in order: "conv %a". Empty if it has no such value.
std::vector<std::string> source_nodes(const graph::Graph& plain, const std::string& name,
                                      const std::set<std::string>& known);

}  // namespace nereid::compile
