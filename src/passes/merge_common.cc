// SPDX-License-Identifier: Apache-2.0
// merge_common: nodes that compute the same of the same values are one, constants that hold the same are one.
#include <cstring>
#include <unordered_map>

#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::NodeId;
using graph::ValueId;

constexpr int64_t kMostBytes = 4096;  // of constants that are compared

std::string key_of(const graph::Value& constant) {
  std::string key = constant.type.to_string();
  for (const ConstTensorView& part : constant.data.parts)
    key.append(static_cast<const char*>(part.data), static_cast<size_t>(part.bytes()));
  return key;
}

void merge_constants(graph::Graph& g) {
  std::unordered_map<std::string, ValueId> seen;
  for (ValueId id : g.constants()) {
    const graph::Value& v = g.value(id);
    if (v.data.parts.empty() || v.type.dtype == DType::string || g.is_output(id)) continue;
    int64_t bytes = 0;
    for (const ConstTensorView& part : v.data.parts) bytes += part.bytes();
    if (bytes > kMostBytes) continue;
    const auto [it, fresh] = seen.emplace(key_of(v), id);
    if (!fresh) g.replace_all_uses(id, it->second);
  }
}

bool is_pure(const graph::Node& node) {
  if (node.op->is_random || !node.regions.empty() || node.outputs.empty()) return false;
  for (const ops::ArgSpec& arg : node.op->inputs)
    if (arg.state) return false;
  // Dropout in training is random, but its results are not always; the table does not tell.
  return node.op->name != "dropout";
}

}  // namespace

Status merge_common(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  merge_constants(g);
  std::unordered_map<std::string, NodeId> seen;
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    const graph::Node& node = g.node(id);
    if (!is_pure(node)) continue;
    std::string key(node.op->name);
    for (ValueId in : node.inputs) key += fmt::format(" {}", in.v);
    for (const auto& [name, value] : node.attrs.values()) key += fmt::format(" {}={}", name, ops::attr_to_text(value));
    const auto [it, fresh] = seen.emplace(std::move(key), id);
    if (fresh) continue;
    const graph::Node& first = g.node(it->second);
    bool outputs = false;
    for (ValueId out : node.outputs) outputs = outputs || g.is_output(out);
    if (outputs || first.outputs.size() != node.outputs.size()) continue;
    edit.fired(edit.where(id), fmt::format("is %{}", g.value(first.outputs[0]).name));
    const std::vector<ValueId> results = node.outputs, firsts = first.outputs;
    for (size_t i = 0; i < results.size(); ++i) {
      if (const auto both = merge_types(g.value(firsts[i]).type, g.value(results[i]).type))
        g.set_type(firsts[i], *both);
      g.replace_all_uses(results[i], firsts[i]);
    }
    edit.erase_unused(id);
  }
  return Status::ok();
}

}  // namespace nereid::passes
