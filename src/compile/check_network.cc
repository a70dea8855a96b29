// SPDX-License-Identifier: Apache-2.0
#include "compile/check_network.h"

#include <algorithm>

#include "base/interrupt.h"
#include "graph/evaluate.h"
#include "ops/elements.h"

namespace nereid::compile {
namespace {

using graph::NodeId;
using graph::ValueId;

std::set<std::string> result_names(const graph::Graph& graph) {
  std::set<std::string> names;
  for (const NodeId id : graph.order())
    for (const ValueId out : graph.node(id).outputs) names.insert(graph.value(out).name);
  for (const ValueId out : graph.outputs()) names.insert(graph.value(out).name);
  return names;
}

class ReferenceValues final : public ValueSource {
 public:
  ReferenceValues(graph::Graph graph, std::shared_ptr<const void> storage)
      : graph_(std::move(graph)), storage_(std::move(storage)) {}
  std::string what() const override { return "the reference evaluators"; }
  std::set<std::string> names() const override { return result_names(graph_); }

  Status run(const NamedValues& inputs, const std::set<std::string>& wanted, const ValueSink& sink) override {
    NamedValues mine;
    for (const ValueId id : graph_.inputs()) {
      const std::string& name = graph_.value(id).name;
      const auto it = inputs.find(name);
      if (it == inputs.end()) return not_found("{} need the input '{}', which is not given", what(), name);
      mine.insert(*it);
    }
    Status status;
    const graph::Graph* mine_alone = &graph_;  // regions are graphs too, with names of their own
    const auto hook = [&](const graph::Graph& graph, NodeId node, std::span<const ops::Datum> results) {
      if (&graph != mine_alone || !status.is_ok()) return;
      status = check_interrupted();
      for (size_t i = 0; status.is_ok() && i < graph.node(node).outputs.size(); ++i)
        if (const std::string& name = graph.value(graph.node(node).outputs[i]).name; wanted.contains(name))
          status = sink(name, results[i]);
    };
    NEREID_TRY(const std::vector<ops::Datum> outputs, graph::evaluate_any(graph_, mine, hook));
    NEREID_RETURN_IF_ERROR(status);
    // Outputs that no node makes.
    for (size_t i = 0; i < outputs.size(); ++i)
      if (const graph::Value& v = graph_.value(graph_.outputs()[i]);
          v.kind != graph::Value::Kind::kResult && wanted.contains(v.name))
        NEREID_RETURN_IF_ERROR(sink(v.name, outputs[i]));
    return Status::ok();
  }

 private:
  graph::Graph graph_;
  std::shared_ptr<const void> storage_;
};

// A context in which further values are outputs.
class WideContext {
 public:
  static Result<WideContext> create(const std::shared_ptr<const runtime::Network>& network,
                                    const std::set<std::string>& wanted, const NamedValues& inputs, ThreadPool& pool) {
    WideContext wide;
    graph::Graph graph = network->graph();
    for (size_t i = 0; i < graph.outputs().size(); ++i) wide.index_.emplace(graph.value(graph.outputs()[i]).name, i);
    for (const NodeId id : network->graph().order())
      for (const ValueId out : network->graph().node(id).outputs) {
        const std::string& name = graph.value(out).name;
        if (!wanted.contains(name) || !wide.index_.emplace(name, graph.outputs().size()).second) continue;
        graph.add_output(out);
      }
    std::vector<ValueId> formals = graph.inputs();
    std::vector<std::string> names;
    for (const ValueId id : formals) names.push_back(graph.value(id).name);
    // The network keeps the constants alive, and lends what it has packed.
    wide.network_ = runtime::Network::create(std::move(graph), network, network->kernels().isa, network->precision(),
                                             network->packed_forms());
    wide.context_ = runtime::NetContext::create(wide.network_, pool);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto it = inputs.find(names[i]);
      if (it == inputs.end()) return not_found("the network needs the input '{}', which is not given", names[i]);
      NEREID_RETURN_IF_ERROR(wide.context_->set_input(i, it->second));
    }
    wide.context_->set_profiling(true);  // names the kernels
    NEREID_RETURN_IF_ERROR(wide.context_->run());
    return wide;
  }
  ops::Datum value(const std::string& name) const { return context_->output_value(index_.at(name)); }
  bool has(const std::string& name) const { return index_.contains(name); }
  std::map<std::string, std::string, std::less<>> kernels() const {
    std::map<std::string, std::string, std::less<>> out;
    for (const runtime::NetProfile& step : context_->profile()) out[step.label] = step.kernel;
    return out;
  }

 private:
  std::map<std::string, size_t> index_;
  std::shared_ptr<const runtime::Network> network_;
  std::unique_ptr<runtime::NetContext> context_;
};

class NetworkValues final : public ValueSource {
 public:
  NetworkValues(OpenedNetwork network, std::string what, ThreadPool& pool)
      : network_(std::move(network)), what_(std::move(what)), pool_(pool) {}
  std::string what() const override { return what_; }
  std::set<std::string> names() const override { return result_names(network_.network->graph()); }
  Status run(const NamedValues& inputs, const std::set<std::string>& wanted, const ValueSink& sink) override {
    NEREID_TRY(const WideContext wide, WideContext::create(network_.network, wanted, inputs, pool_).with(what_));
    for (const std::string& name : wanted)
      if (wide.has(name)) NEREID_RETURN_IF_ERROR(sink(name, wide.value(name)));
    return Status::ok();
  }

 private:
  OpenedNetwork network_;
  std::string what_;
  ThreadPool& pool_;
};

// The values from which a value comes, going back until one is known; the nodes on the way.
struct Way {
  std::vector<std::string> known;
  std::vector<NodeId> nodes;  // in the graph's order
};

Way way_to(const graph::Graph& graph, ValueId value, const std::set<std::string>& known) {
  Way way;
  std::set<NodeId> seen;
  std::set<ValueId> met;
  std::vector<ValueId> todo = {value};
  while (!todo.empty()) {
    const ValueId at = todo.back();
    todo.pop_back();
    const graph::Value& v = graph.value(at);
    if (at != value && known.contains(v.name)) {
      if (met.insert(at).second) way.known.push_back(v.name);
      continue;
    }
    if (!v.producer.valid() || !seen.insert(v.producer).second) continue;
    way.nodes.push_back(v.producer);
    for (const ValueId in : graph.node(v.producer).inputs)
      if (in.valid()) todo.push_back(in);
  }
  std::ranges::sort(way.nodes, {}, [&](NodeId id) { return graph.position_of(id); });
  std::ranges::sort(way.known);
  return way;
}

// Codes stand for (code - zero) * scale.
struct Grid {
  double scale = 1, zero = 0;
};

ops::Datum real_of(const ops::Datum& codes, const Grid& grid) {
  std::vector<double> numbers = codes.tensor.numbers();
  for (double& v : numbers) v = (v - grid.zero) * grid.scale;
  return ops::Tensor::of(DType::f32, codes.tensor.sizes, numbers);
}

// A value that is compared, and under which name.
struct Compared {
  ValueId id;
  std::string name;  // the other side's
  std::optional<Grid> grid;
};

// A value of the other side's, or the codes of one (passes/quantize_layers.h: x.u8 with x.scale and x.zero).
std::optional<Compared> counterpart(const graph::Graph& graph, ValueId id, const std::set<std::string>& theirs) {
  constexpr std::string_view kCodes = ".u8";
  const std::string& name = graph.value(id).name;
  if (theirs.contains(name)) return Compared{id, name, std::nullopt};
  if (!name.ends_with(kCodes)) return std::nullopt;
  const std::string real = name.substr(0, name.size() - kCodes.size());
  const ValueId scale = graph.find_value(real + ".scale"), zero = graph.find_value(real + ".zero");
  const auto number = [&](ValueId v) -> std::optional<double> {
    if (!v.valid() || graph.value(v).data.parts.size() != 1 || graph.value(v).data.parts[0].elements() != 1)
      return std::nullopt;
    return ops::load<double>(graph.value(v).data.parts[0])[0];
  };
  const auto s = number(scale), z = number(zero);
  if (!theirs.contains(real) || !s || !z) return std::nullopt;
  return Compared{id, real, Grid{*s, *z}};
}

std::string label_of(const graph::Graph& graph, NodeId id) {
  const graph::Node& node = graph.node(id);
  return fmt::format("{} %{}", node.op->name,
                     node.outputs.empty() ? std::string("?") : graph.value(node.outputs[0]).name);
}

}  // namespace

std::unique_ptr<ValueSource> reference_values(graph::Graph graph, std::shared_ptr<const void> storage) {
  return std::make_unique<ReferenceValues>(std::move(graph), std::move(storage));
}

std::unique_ptr<ValueSource> network_values(OpenedNetwork network, std::string what, ThreadPool& pool) {
  return std::make_unique<NetworkValues>(std::move(network), std::move(what), pool);
}

Result<PlainGraph> plain_graph(const std::string& model, const NetworkSession& session) {
  if (session.is_engine) return PlainGraph{session.network.network->graph(), session.network.network};
  import::onnx::ImportOptions options;
  for (const auto& [name, value] : session.values) {
    options.overridden.insert(name);
    if (value.is_tensor()) options.shapes.emplace(name, value.tensor.sizes);
  }
  NEREID_TRY(import::onnx::OnnxModel plain, import::onnx::import_file(model, options));
  return PlainGraph{std::move(plain.graph), std::move(plain.storage)};
}

const CheckedValue* CheckReport::find(std::string_view name) const {
  const auto it = std::ranges::find(values, name, &CheckedValue::name);
  return it == values.end() ? nullptr : &*it;
}

std::vector<std::string> source_nodes(const graph::Graph& plain, const std::string& name,
                                      const std::set<std::string>& known) {
  const ValueId value = plain.find_value(name);
  std::vector<std::string> out;
  if (!value.valid()) return out;
  for (const NodeId id : way_to(plain, value, known).nodes) out.push_back(label_of(plain, id));
  return out;
}

Result<CheckReport> check_network(const CheckRequest& request, ValueSource& expected, ThreadPool& pool) {
  const graph::Graph& graph = request.network.network->graph();
  CheckReport report;
  const std::set<std::string> theirs = expected.names();
  std::set<std::string> wanted, mine;                    // theirs, and what they are called here
  std::map<std::string, Compared, std::less<>> by_name;  // theirs
  std::vector<Compared> compared;
  const auto take = [&](ValueId id) {
    const auto one = counterpart(graph, id, theirs);
    if (!one) {
      ++report.not_compared;
    } else if (wanted.insert(one->name).second) {
      mine.insert(graph.value(id).name);
      by_name[one->name] = *one;
      compared.push_back(*one);
    }
  };
  for (const NodeId id : graph.order())
    for (const ValueId out : graph.node(id).outputs)
      if (graph.is_output(out) || !graph.users(out).empty()) take(out);
  for (const ValueId out : graph.outputs()) {
    if (!theirs.contains(graph.value(out).name))
      return invalid_argument("the network's output '{}' has no counterpart in {}", graph.value(out).name,
                              expected.what());
    take(out);
  }
  NEREID_TRY(const WideContext found,
             WideContext::create(request.network.network, mine, request.inputs, pool).with("the network checked"));
  std::map<std::string, std::pair<ValueDifference, std::string>, std::less<>> differences;  // and the type
  NEREID_RETURN_IF_ERROR(expected.run(request.inputs, wanted, [&](const std::string& name, const ops::Datum& value) {
    const Compared& one = by_name.find(name)->second;
    ops::Datum here = found.value(graph.value(one.id).name);
    const std::string type = ops::type_of(here).to_string();
    if (one.grid && here.is_tensor()) here = real_of(here, *one.grid);
    differences[name] = {compare_values(here, value), type};
    return check_interrupted();
  }));

  const auto kernels = found.kernels();
  std::set<std::string> known;
  for (const auto& [name, difference] : differences) known.insert(name);
  for (const Compared& one : compared) {
    const ValueId id = one.id;
    const graph::Value& v = graph.value(id);
    const auto it = differences.find(one.name);
    if (it == differences.end()) {
      ++report.not_compared;
      continue;
    }
    CheckedValue row{.name = one.name,
                     .op = {},
                     .kernel = {},
                     .type = it->second.second,
                     .difference = it->second.first,
                     .is_output = graph.is_output(id),
                     .inputs = {},
                     .sources = {}};
    row.within = is_within(row.difference, request.tolerance);
    // A pass may keep a name for the same elements in another arrangement; an output may not.
    if (!row.difference.mismatch.empty() && !row.is_output) {
      report.unlike.push_back(one.name);
      known.erase(one.name);
      continue;
    }
    if (v.producer.valid()) {
      row.op = graph.node(v.producer).op->name;
      if (const auto kernel = kernels.find(label_of(graph, v.producer)); kernel != kernels.end())
        row.kernel = kernel->second;
    }
    report.values.push_back(std::move(row));
  }
  std::set<std::string> known_here;
  std::map<std::string, std::string> called;  // by its name here
  for (const Compared& one : compared)
    if (known.contains(one.name)) {
      known_here.insert(graph.value(one.id).name);
      called[graph.value(one.id).name] = one.name;
    }
  for (size_t i = 0; i < report.values.size(); ++i) {
    CheckedValue& row = report.values[i];
    for (const std::string& here : way_to(graph, by_name.find(row.name)->second.id, known_here).known)
      row.inputs.push_back(called.at(here));
    row.sources = source_nodes(request.plain, row.name, known);
    if (!row.within && !report.first) report.first = i;
  }
  return report;
}

}  // namespace nereid::compile
