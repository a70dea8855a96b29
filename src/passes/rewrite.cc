// SPDX-License-Identifier: Apache-2.0
// Planning a replacement (everything that can be refused), then making it (nothing can).
#include "passes/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "graph/text.h"
#include "ops/attr_text.h"

namespace nereid::passes {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

// "blk.0.attn_q.weight", "blk.0.attn_k.weight" -> "blk.0.attn_q+k.weight"
std::string joined_name(const std::vector<std::string>& names) {
  size_t prefix = 0, suffix = 0;
  const std::string& first = names[0];
  auto all = [&](auto&& same) { return std::ranges::all_of(names, same); };
  while (all([&](const std::string& n) { return prefix < n.size() && n[prefix] == first[prefix]; })) ++prefix;
  while (prefix > 0 && std::isalnum(static_cast<unsigned char>(first[prefix - 1]))) --prefix;  // not within a word
  while (all([&](const std::string& n) {
    return prefix + suffix < n.size() && n[n.size() - 1 - suffix] == first[first.size() - 1 - suffix];
  }))
    ++suffix;
  while (suffix > 0 && std::isalnum(static_cast<unsigned char>(first[first.size() - suffix]))) --suffix;
  std::vector<std::string> middles;
  for (const std::string& n : names) middles.push_back(n.substr(prefix, n.size() - prefix - suffix));
  return first.substr(0, prefix) + fmt::format("{}", fmt::join(middles, "+")) + first.substr(first.size() - suffix);
}

struct JoinPlan {
  int result = 0;
  std::string name;  // empty: absent
  ops::TensorType type;
  graph::ConstantData data;
};

struct NodePlan {
  const PictureNode* picture = nullptr;
  ops::Attrs attrs;
};

class Plan {
 public:
  Plan(const Graph& g, const Rewrite& rewrite, const Match& match)
      : g_(g), rewrite_(rewrite), match_(match), types_(rewrite.replacement.values.size()) {
    for (size_t i = 0; i < match.values.size(); ++i)
      if (match.values[i].valid()) types_[i] = g.value(match.values[i]).type;
  }

  Status make(const Capabilities& capabilities) {
    for (const PictureJoin& join : rewrite_.replacement.joins) NEREID_RETURN_IF_ERROR(plan(join));
    for (const PictureNode& node : rewrite_.replacement.nodes) NEREID_RETURN_IF_ERROR(plan(node, capabilities));
    for (int out : rewrite_.pattern.outputs) {
      const ops::TensorType& old = g_.value(match_.values[static_cast<size_t>(out)]).type;
      const ops::TensorType& now = *types_[static_cast<size_t>(out)];
      if (!(old == now))
        return unsupported("the result would be {} and not {}", graph::print_type(now), graph::print_type(old));
    }
    return Status::ok();
  }

  std::vector<JoinPlan> joins;
  std::vector<NodePlan> nodes;

 private:
  Status plan(const PictureJoin& join) {
    JoinPlan out;
    out.result = join.result;
    std::vector<std::string> names;
    int64_t rows = 0;
    bool has_data = true;
    for (int part : join.parts) {
      const ValueId id = match_.values[static_cast<size_t>(part)];
      if (!id.valid()) continue;
      const graph::Value& v = g_.value(id);
      if (names.empty()) out.type = v.type;
      bool fits = v.type.dtype == out.type.dtype && v.type.shape.rank() == out.type.shape.rank() &&
                  v.type.shape.rank() > 0 && v.type.shape[0].is_static();
      for (int d = 1; fits && d < v.type.shape.rank(); ++d) fits = v.type.shape[d] == out.type.shape[d];
      if (!fits)
        return unsupported("%{} ({}) and %{} ({}) cannot be joined", names.empty() ? v.name : names[0],
                           graph::print_type(out.type), v.name, graph::print_type(v.type));
      rows += v.type.shape[0].size();
      names.push_back(v.name);
      has_data = has_data && !v.data.parts.empty();
      out.data.parts.insert(out.data.parts.end(), v.data.parts.begin(), v.data.parts.end());
    }
    if (!names.empty() && names.size() < join.parts.size())
      return unsupported("{} of {} constants to be joined are absent", join.parts.size() - names.size(),
                         join.parts.size());
    if (!names.empty()) {
      out.type.shape[0] = Dim(rows);
      out.name = joined_name(names);
      types_[static_cast<size_t>(join.result)] = out.type;
      if (!has_data) out.data.parts.clear();
    }
    joins.push_back(std::move(out));
    return Status::ok();
  }

  // `$eps`, `$w.rows` -> their text.
  Result<std::string> expand(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      if (text[0] != '$') {
        out += text[0];
        text.remove_prefix(1);
        continue;
      }
      size_t end = 1;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' || text[end] == '.'))
        ++end;
      const std::string name(text.substr(1, end - 1));
      text.remove_prefix(end);
      if (name.ends_with(".rows")) {
        const int index = rewrite_.pattern.find(name.substr(0, name.size() - 5));
        if (index == kAbsent || !types_[static_cast<size_t>(index)])
          return internal("the replacement reads ${}, which is nothing", name);
        const Dim& rows = types_[static_cast<size_t>(index)]->shape[0];
        if (!rows.is_static()) return unsupported("${} is not known before the run", name);
        out += std::to_string(rows.size());
      } else {
        auto it = match_.attrs.find(name);
        if (it == match_.attrs.end())
          return internal("the replacement reads ${}, which the pattern does not take", name);
        out += ops::attr_to_text(it->second);
      }
    }
    return out;
  }

  Status plan(const PictureNode& node, const Capabilities& capabilities) {
    NodePlan out;
    out.picture = &node;
    if (!node.rest.empty()) {
      auto it = match_.rests.find(node.rest);
      if (it == match_.rests.end())
        return internal("the replacement reads ...{}, which the pattern does not take", node.rest);
      out.attrs = it->second;
    }
    for (const PictureAttr& attr : node.attrs) {
      auto spec = std::ranges::find(node.op->attrs, attr.name, &ops::AttrSpec::name);
      NEREID_TRY(std::string text, expand(attr.text));
      NEREID_TRY(ops::AttrValue value, ops::attr_from_text(spec->kind, text).with(attr.name));
      out.attrs.set(attr.name, std::move(value));
    }
    NEREID_RETURN_IF_ERROR(ops::complete_attrs(*node.op, out.attrs));
    std::vector<const ops::TensorType*> inputs;
    for (int arg : node.args)
      inputs.push_back(arg != kAbsent && types_[static_cast<size_t>(arg)] ? &*types_[static_cast<size_t>(arg)]
                                                                          : nullptr);
    const std::vector<const ConstTensorView*> constants(inputs.size(), nullptr);
    NEREID_TRY(auto results,
               node.op->infer({.inputs = inputs, .constants = constants, .attrs = out.attrs}).with(node.op->name));
    if (capabilities.accepts) NEREID_RETURN_IF_ERROR(capabilities.accepts(*node.op, inputs, out.attrs));
    if (results.size() != node.results.size())
      return internal("the replacement's {} has {} results", node.op->name, results.size());
    for (size_t i = 0; i < results.size(); ++i) types_[static_cast<size_t>(node.results[i])] = std::move(results[i]);
    nodes.push_back(std::move(out));
    return Status::ok();
  }

  const Graph& g_;
  const Rewrite& rewrite_;
  const Match& match_;
  std::vector<std::optional<ops::TensorType>> types_;  // by index of the replacement's values
};

NodeId last_of(const Graph& g, const std::vector<NodeId>& nodes) {
  NodeId last;
  for (NodeId n : g.order())
    if (std::ranges::find(nodes, n) != nodes.end()) last = n;
  return last;
}

}  // namespace

Status apply(Graph& g, const Rewrite& rewrite, const Match& match, const Capabilities& capabilities) {
  Plan plan(g, rewrite, match);
  NEREID_RETURN_IF_ERROR(plan.make(capabilities));

  std::vector<ValueId> values = match.values;
  const std::vector<ValueId>& old = match.values;
  values.resize(rewrite.replacement.values.size());
  for (JoinPlan& join : plan.joins)
    if (!join.name.empty())
      values[static_cast<size_t>(join.result)] =
          g.add_constant(std::move(join.name), std::move(join.type), std::move(join.data));
  const std::string base = g.value(old[static_cast<size_t>(rewrite.pattern.outputs[0])]).name;
  const NodeId before = last_of(g, match.nodes);
  for (NodePlan& node : plan.nodes) {
    std::vector<ValueId> inputs;
    for (int arg : node.picture->args) inputs.push_back(arg == kAbsent ? ValueId{} : values[static_cast<size_t>(arg)]);
    NEREID_TRY(auto results, g.insert_node(before, node.picture->op->name, std::move(inputs), std::move(node.attrs)));
    for (size_t i = 0; i < results.size(); ++i) {
      const size_t index = static_cast<size_t>(node.picture->results[i]);
      values[index] = results[i];
      g.rename(results[i], fmt::format("{}.{}", base, rewrite.replacement.values[index].name));
    }
  }
  std::vector<std::pair<ValueId, std::string>> names;
  for (int out : rewrite.pattern.outputs) {
    const ValueId from = old[static_cast<size_t>(out)];
    names.emplace_back(values[static_cast<size_t>(out)], g.value(from).name);
    g.replace_all_uses(from, values[static_cast<size_t>(out)]);
  }
  // Users first, so that a node is erased when nothing reads it any more. Shared results keep theirs.
  std::vector<NodeId> dead;
  for (NodeId n : g.order())
    if (std::ranges::find(match.nodes, n) != match.nodes.end()) dead.insert(dead.begin(), n);
  for (NodeId n : dead) {
    const auto& outputs = g.node(n).outputs;
    if (std::ranges::all_of(outputs, [&](ValueId v) { return !g.is_output(v) && g.users(v).empty(); })) g.erase_node(n);
  }
  for (auto& [id, name] : names) g.rename(id, std::move(name));
  return g.sort();
}

Status sweep(Graph& g, const std::vector<RewriteText>& texts, PassContext& context) {
  std::vector<Rewrite> rewrites;
  for (const RewriteText& text : texts) {
    NEREID_TRY(Rewrite rewrite, parse_rewrite(text.pattern, text.replacement));
    rewrites.push_back(std::move(rewrite));
  }
  std::vector<Record> refused;
  bool again = true;
  while (again) {
    again = false;
    refused.clear();
    const std::vector<NodeId> anchors = g.order();
    for (NodeId anchor : anchors) {
      for (size_t i = 0; i < rewrites.size(); ++i) {
        if (g.node(anchor).op == nullptr) break;  // gone with an earlier match
        auto found = find_match(g, rewrites[i].pattern, anchor, texts[i].condition);
        if (!found) continue;
        std::string where = fmt::format("{} %{}", g.node(anchor).op->name, g.value(g.node(anchor).outputs[0]).name);
        Status result = found->refusal;
        if (result.is_ok()) result = apply(g, rewrites[i], found->match, context.capabilities);
        if (result.code() == StatusCode::kInternal) return result.with(where);
        if (!result.is_ok()) {
          refused.push_back({.fired = false, .where = std::move(where), .what = result.message()});
          continue;
        }
        again = true;
        const NodeId made =
            g.value(
                 g.find_value(g.value(found->match.values[static_cast<size_t>(rewrites[i].pattern.outputs[0])]).name))
                .producer;
        context.records.push_back({.fired = true, .where = std::move(where), .what = graph::print_call(g, made)});
      }
    }
  }
  context.records.insert(context.records.end(), refused.begin(), refused.end());
  return Status::ok();
}

}  // namespace nereid::passes
