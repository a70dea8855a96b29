// SPDX-License-Identifier: Apache-2.0
// What network_view.h holds, as JSON.
#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "compile/graph_origin.h"
#include "compile/network_view.h"

namespace nereid::compile {
namespace {

// Six significant digits: finer ones are noise, and long to read.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

OrderedJson types_json(const std::vector<NamedType>& values) {
  OrderedJson list = OrderedJson::array();
  for (const NamedType& v : values) list.push_back({{"name", v.name}, {"type", v.type.to_string()}});
  return list;
}

OrderedJson layer_json(const LayerAccount& layer) {
  OrderedJson json = {{"name", layer.name},
                      {"op", layer.op},
                      {"path", layer.path},
                      {"kernel", layer.kernel},
                      {"note", layer.note},
                      {"precision", layer.precision},
                      {"inputs", layer.inputs},
                      {"outputs", layer.outputs},
                      {"flops", rounded(layer.cost.flops)},
                      {"bytes", rounded(layer.bytes())}};
  if (!layer.problem.empty()) json["problem"] = layer.problem;
  if (!layer.tactic.empty()) json["tactic"] = layer.tactic;
  for (const LayerCandidate& one : layer.candidates)
    json["candidates"].push_back({{"tactic", one.tactic}, {"ms", rounded(one.ms)}, {"given_up", one.given_up}});
  if (!layer.chosen_because.empty()) json["chosen_because"] = layer.chosen_because;
  if (layer.ms) json["ms"] = rounded(*layer.ms);
  if (layer.roof_ms > 0) json["roof_ms"] = rounded(layer.roof_ms);
  if (const auto share = layer.roof_share()) json["roof_share"] = rounded(*share);
  return json;
}

OrderedJson roof_json(const MachineRoof& roof) {
  OrderedJson json = {{"flops_per_second", rounded(roof.flops_per_second)}, {"memory", OrderedJson::array()}};
  for (const MachineRoof::Reach& reach : roof.memory)
    json["memory"].push_back({{"bytes", reach.bytes}, {"bytes_per_second", rounded(reach.bytes_per_second)}});
  return json;
}

OrderedJson totals_json(const NetworkAccount& account) {
  OrderedJson json = {{"runs", account.runs}};
  if (account.runs == 0) return json;
  json["run_ms"] = rounded(account.run_ms);
  json["layers_ms"] = rounded(account.layers_ms());
  json["between_ms"] = rounded(account.between_ms);
  return json;
}

// Finds the node of the file behind a value's name: one of its outputs, or the name of the node itself with the suffix
// that made an intermediate value's name unique.
class Sources {
 public:
  explicit Sources(const std::vector<import::onnx::SourceNode>& nodes) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].outputs)
        if (!output.empty()) by_name_.emplace(output, i);
    }
    for (size_t i = 0; i < nodes.size(); ++i)
      if (!nodes[i].name.empty()) by_name_.emplace(nodes[i].name, i);
  }
  int64_t find(std::string_view name) const {
    for (int cuts = 0; cuts < 3; ++cuts) {
      if (const auto it = by_name_.find(std::string(name)); it != by_name_.end())
        return static_cast<int64_t>(it->second);
      const size_t dot = name.rfind('.');
      if (dot == std::string_view::npos) break;
      name = name.substr(0, dot);
    }
    return -1;
  }

 private:
  std::unordered_map<std::string, size_t> by_name_;
};

void add_sources(OrderedJson& graphs, const std::vector<import::onnx::SourceNode>& nodes) {
  const Sources sources(nodes);
  for (OrderedJson& graph : graphs)
    for (OrderedJson& node : graph["nodes"]) {
      if (node["out"].empty()) continue;
      const auto& name = graph["values"][node["out"][0].get<size_t>()]["name"].get_ref<const std::string&>();
      if (const int64_t at = sources.find(name); at >= 0) node["source"] = at;
    }
}

void add_origins(OrderedJson& graphs, const graph::Graph& before, const graph::Graph& after) {
  std::map<std::string, const graph::Graph*> earlier;
  visit_graphs(before, [&](const std::string& path, const graph::Graph& g) { earlier[path] = &g; });
  size_t at = 0;
  visit_graphs(after, [&](const std::string& path, const graph::Graph& g) {
    OrderedJson& json = graphs[at++];
    const auto it = earlier.find(path);
    if (it == earlier.end()) return;
    const std::vector<std::vector<size_t>> origins = graph_origins(*it->second, g);
    for (size_t i = 0; i < origins.size(); ++i) json["nodes"][i]["from"] = origins[i];
  });
}

OrderedJson passes_json(const std::vector<PassSummary>& summaries) {
  OrderedJson list = OrderedJson::array();
  for (const PassSummary& pass : summaries) {
    OrderedJson json = {{"name", pass.name},
                        {"reason", pass.reason},
                        {"enabled", pass.enabled},
                        {"fired", pass.fired},
                        {"refused", pass.refused},
                        {"nodes_before", pass.nodes_before},
                        {"nodes_after", pass.nodes_after},
                        {"records", OrderedJson::array()}};
    for (const passes::Record& r : pass.records)
      json["records"].push_back({{"fired", r.fired}, {"where", r.where}, {"what", r.what}});
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

OrderedJson view_json(const NetworkView& view, bool graphs) {
  const NetworkAccount& account = view.account;
  OrderedJson json = {{"model", view.file},
                      {"kind", view.kind},
                      {"isa", view.isa},
                      {"precision", view.precision},
                      {"threads", account.threads},
                      {"inputs", types_json(view.inputs)},
                      {"outputs", types_json(view.outputs)},
                      {"nodes_imported", view.before ? OrderedJson(view.before->order().size()) : OrderedJson()},
                      {"nodes_optimised", view.after.order().size()},
                      {"remarks", view.remarks},
                      {"notes", account.notes},
                      {"not_run", account.not_run},
                      {"times", totals_json(account)},
                      {"plan_bytes", account.plan_bytes},
                      {"packed_bytes", account.packed_bytes}};
  if (account.roof) json["roof"] = roof_json(*account.roof);
  json["layers"] = OrderedJson::array();
  for (const LayerAccount& layer : account.layers) json["layers"].push_back(layer_json(layer));
  json["passes"] = passes_json(view.passes);
  if (!graphs) return json;
  if (view.before) {
    json["graphs"]["before"] = graphs_json(*view.before);
    add_sources(json["graphs"]["before"], view.sources);
    json["sources"] = OrderedJson::array();
    for (const import::onnx::SourceNode& node : view.sources)
      json["sources"].push_back({node.name, node.domain.empty() ? node.op : node.domain + "." + node.op});
  }
  json["graphs"]["after"] = graphs_json(view.after);
  if (view.before) add_origins(json["graphs"]["after"], *view.before, view.after);
  return json;
}

}  // namespace nereid::compile
