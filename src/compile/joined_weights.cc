// SPDX-License-Identifier: Apache-2.0
#include "compile/joined_weights.h"

#include <cctype>

namespace nereid::compile {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

// The sizes of the split that takes the node's result apart; empty if there is none.
std::vector<int64_t> split_sizes(const graph::Graph& g, const graph::Node& node) {
  for (graph::NodeId user : g.users(node.outputs[0]))
    if (g.node(user).op->name == "split" && g.node(user).attrs.has("sizes"))
      return g.node(user).attrs.integers("sizes");
  return {};
}

void add(const graph::Graph& g, const graph::Node& node, graph::ValueId weight,
         std::map<std::string, WeightRows, std::less<>>& rows) {
  const graph::Value& v = g.value(weight);
  if (v.kind != graph::Value::Kind::kConstant || v.type.shape.rank() != 2 || !v.type.shape[0].is_static()) return;
  const std::vector<std::string> names = names_before_joining(v.name);
  std::vector<int64_t> sizes{v.type.shape[0].size()};
  if (names.size() > 1) sizes = split_sizes(g, node);
  if (sizes.size() != names.size()) return;
  int64_t first = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    rows[names[i]] = {weight, first, sizes[i]};
    first += sizes[i];
  }
}

}  // namespace

std::vector<std::string> names_before_joining(std::string_view name) {
  const size_t plus = name.find('+');
  if (plus == std::string_view::npos) return {std::string(name)};
  // The first part ends in a word, the last begins with one; those words and what stands between two '+' differ.
  size_t begin = plus, end = name.rfind('+') + 1;
  while (begin > 0 && is_word(name[begin - 1])) --begin;
  while (end < name.size() && is_word(name[end])) ++end;
  std::vector<std::string> names;
  for (size_t at = begin; at < end;) {
    const size_t next = std::min(name.find('+', at), end);
    names.push_back(std::string(name.substr(0, begin)) + std::string(name.substr(at, next - at)) +
                    std::string(name.substr(end)));
    at = next + 1;
  }
  return names;
}

std::map<std::string, WeightRows, std::less<>> matrix_rows(const graph::Graph& g) {
  std::map<std::string, WeightRows, std::less<>> rows;
  for (graph::NodeId n : g.order()) {
    const graph::Node& node = g.node(n);
    if (node.op->name == "linear") add(g, node, node.inputs[1], rows);
    if (node.op->name == "gated_linear")
      for (size_t i : {1, 2}) add(g, node, node.inputs[i], rows);
  }
  return rows;
}

}  // namespace nereid::compile
