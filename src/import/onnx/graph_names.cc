// SPDX-License-Identifier: Apache-2.0
#include "import/onnx/graph_names.h"

#include <functional>
#include <queue>
#include <unordered_map>

namespace nereid::import::onnx {
namespace {

// Names that a node reads: its inputs and what its graphs take from outside.
std::set<std::string> names_read(const ::onnx::NodeProto& node) {
  std::set<std::string> names(node.input().begin(), node.input().end());
  for (const auto& attr : node.attribute()) {
    if (attr.has_g()) names.merge(free_names(attr.g()));
    for (const auto& g : attr.graphs()) names.merge(free_names(g));
  }
  names.erase("");
  return names;
}

std::string describe(const ::onnx::NodeProto& node) {
  return node.name().empty() ? fmt::format("the {} node", node.op_type())
                             : fmt::format("node '{}' ({})", node.name(), node.op_type());
}

}  // namespace

std::set<std::string> free_names(const ::onnx::GraphProto& graph) {
  std::set<std::string> read, defined;
  for (const auto& in : graph.input()) defined.insert(in.name());
  for (const auto& t : graph.initializer()) defined.insert(t.name());
  for (const auto& t : graph.sparse_initializer()) defined.insert(t.values().name());
  for (const auto& node : graph.node()) {
    read.merge(names_read(node));
    defined.insert(node.output().begin(), node.output().end());
  }
  for (const auto& out : graph.output()) read.insert(out.name());
  for (const std::string& name : defined) read.erase(name);
  read.erase("");
  return read;
}

Result<std::vector<int>> running_order(const NodeList& nodes) {
  std::unordered_map<std::string, int> giver;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string& out : nodes[i].output())
      if (!out.empty() && !giver.emplace(out, i).second)
        return invalid_argument("the value '{}' is given twice, the second time by {}", out, describe(nodes[i]));
  std::vector<std::vector<int>> next(static_cast<size_t>(nodes.size()));
  std::vector<int> waits(static_cast<size_t>(nodes.size()), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : names_read(nodes[i])) {
      const auto it = giver.find(name);
      if (it == giver.end()) continue;
      next[static_cast<size_t>(it->second)].push_back(i);
      ++waits[static_cast<size_t>(i)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i)
    if (waits[static_cast<size_t>(i)] == 0) ready.push(i);
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int j : next[static_cast<size_t>(i)])
      if (--waits[static_cast<size_t>(j)] == 0) ready.push(j);
  }
  if (static_cast<int>(order.size()) == nodes.size()) return order;
  for (int i = 0; i < nodes.size(); ++i)
    if (waits[static_cast<size_t>(i)] > 0)
      return invalid_argument("the graph has a cycle: {} waits for its own result", describe(nodes[i]));
  return internal("a cycle without a node");
}

}  // namespace nereid::import::onnx
