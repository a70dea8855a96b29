// SPDX-License-Identifier: Apache-2.0
// A backtracking search over a pattern's nodes. Patterns have at most a handful of nodes, so it favours clarity.
#include "passes/match.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>

#include "graph/text.h"
#include "ops/attr_text.h"

namespace nereid::passes {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;
using graph::ValueId;

std::string name_of(const Graph& g, ValueId id) {
  return fmt::format("%{}", graph::name_to_text(g.value(id).name));
}
std::string name_of(const Graph& g, NodeId id) {
  return fmt::format("{} {}", g.node(id).op->name, name_of(g, g.node(id).outputs[0]));
}

class Search {
 public:
  Search(const Graph& g, const Picture& pattern, Condition condition)
      : g_(g), pattern_(pattern), condition_(condition) {}

  std::optional<Found> run(NodeId anchor) {
    anchor_ = anchor;
    match_.pattern = &pattern_;
    match_.values.assign(pattern_.values.size(), kUnbound);
    match_.nodes.assign(pattern_.nodes.size(), NodeId{});
    if (try_node(0, anchor)) return Found{match_, Status::ok()};
    if (refused_) return Found{std::move(*refused_)};
    return std::nullopt;
  }

 private:
  static constexpr ValueId kUnbound{-2};
  static bool bound(ValueId id) { return id != kUnbound; }

  // The next pattern node to place and where it may be; empty pattern index: all are placed.
  std::optional<size_t> next_node(std::vector<NodeId>& candidates) const {
    std::optional<size_t> best;
    int best_rank = 4;
    for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
      if (match_.nodes[i].valid()) continue;
      const PictureNode& node = pattern_.nodes[i];
      int rank = 3;
      ValueId through;
      for (int r : node.results)
        if (bound(value(r))) rank = 0, through = value(r);
      for (int a : node.args) {
        if (rank == 0 || a == kAbsent || !bound(value(a)) || !value(a).valid()) continue;
        const int arg_rank = pattern_.values[static_cast<size_t>(a)].kind == PictureValue::Kind::kResult ? 1 : 2;
        if (arg_rank < rank) rank = arg_rank, through = value(a);
      }
      if (rank >= best_rank) continue;
      best = i;
      best_rank = rank;
      candidates.clear();
      if (rank == 0) {
        if (NodeId producer = g_.value(through).producer; producer.valid()) candidates.push_back(producer);
      } else {
        for (NodeId n : rank == 3 ? g_.order() : g_.users(through))
          if (rank == 1 || position(n) > position(anchor_)) candidates.push_back(n);
      }
    }
    return best;
  }

  size_t position(NodeId n) const { return g_.position_of(n); }
  ValueId value(int index) const { return match_.values[static_cast<size_t>(index)]; }

  bool try_node(size_t index, NodeId candidate) {
    const PictureNode& node = pattern_.nodes[index];
    const graph::Node& real = g_.node(candidate);
    if (real.op != node.op || std::ranges::find(match_.nodes, candidate) != match_.nodes.end()) return false;
    if (real.inputs.size() != node.args.size() || real.outputs.size() != node.results.size()) return false;
    const Match before = match_;
    for (bool exchanged : {false, true}) {
      if (exchanged && !node.op->commutative) break;
      match_.nodes[index] = candidate;
      if (bind(node, real, exchanged) && place_rest()) return true;
      match_ = before;
    }
    return false;
  }

  bool bind(const PictureNode& node, const graph::Node& real, bool exchanged) {
    for (size_t i = 0; i < node.args.size(); ++i) {
      const ValueId in = real.inputs[exchanged ? 1 - i : i];
      if (node.args[i] == kAbsent) continue;  // that it is absent is checked later: a refusal worth telling
      const PictureValue& wanted = pattern_.values[static_cast<size_t>(node.args[i])];
      if (!in.valid() && !wanted.optional) return false;
      ValueId& place = match_.values[static_cast<size_t>(node.args[i])];
      if (bound(place) && place != in) return false;
      place = in;
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      ValueId& place = match_.values[static_cast<size_t>(node.results[i])];
      if (bound(place) && place != real.outputs[i]) return false;
      place = real.outputs[i];
    }
    return true;
  }

  bool place_rest() {
    std::vector<NodeId> candidates;
    auto index = next_node(candidates);
    if (!index) {
      Match complete = match_;
      for (ValueId& v : complete.values)
        if (!bound(v)) v = ValueId{};
      std::swap(match_, complete);
      const Status fits = check();
      if (fits.is_ok()) return true;
      if (!refused_) refused_ = Found{match_, fits};
      std::swap(match_, complete);
      return false;
    }
    for (NodeId candidate : candidates)
      if (try_node(*index, candidate)) return true;
    return false;
  }

  Status check() {
    dtypes_.clear();
    dims_.clear();
    for (size_t i = 0; i < pattern_.nodes.size(); ++i)
      NEREID_RETURN_IF_ERROR(check_node(pattern_.nodes[i], match_.nodes[i]));
    for (size_t i = 0; i < pattern_.values.size(); ++i)
      if (match_.values[i].valid()) NEREID_RETURN_IF_ERROR(check_value(pattern_.values[i], match_.values[i]));
    NEREID_RETURN_IF_ERROR(check_order());
    return condition_ == nullptr ? Status::ok() : condition_(g_, match_);
  }

  Status check_node(const PictureNode& node, NodeId id) {
    const graph::Node& real = g_.node(id);
    for (size_t i = 0; i < node.args.size(); ++i)
      if (node.args[i] == kAbsent && real.inputs[i].valid())
        return invalid_argument("{} has an argument '{}' already, {}", name_of(g_, id), node.op->inputs[i].name,
                                name_of(g_, real.inputs[i]));
    ops::Attrs rest;
    for (const auto& [name, found] : real.attrs.values()) {
      auto attr = std::ranges::find(node.attrs, name, &PictureAttr::name);
      if (attr == node.attrs.end()) {
        rest.set(name, found);
        continue;
      }
      const ops::AttrValue& wanted =
          attr->capture.empty() ? attr->value : match_.attrs.try_emplace(attr->capture, found).first->second;
      if (!(wanted == found))
        return invalid_argument("{} has {}={}, not {}", name_of(g_, id), name, ops::attr_to_text(found),
                                ops::attr_to_text(wanted));
    }
    if (!node.rest.empty()) {
      match_.rests[node.rest] = std::move(rest);
      return Status::ok();
    }
    for (const auto& [name, found] : rest.values()) {
      auto spec = std::ranges::find(node.op->attrs, name, &ops::AttrSpec::name);
      auto fallback = ops::attr_from_text(spec->kind, spec->fallback);
      if (!fallback.is_ok() || !(*fallback == found))
        return invalid_argument("{} has {}={}, which the pattern does not carry over", name_of(g_, id), name,
                                ops::attr_to_text(found));
    }
    return Status::ok();
  }

  Status check_value(const PictureValue& wanted, ValueId id) {
    const Value& real = g_.value(id);
    if (wanted.kind == PictureValue::Kind::kConstant && real.kind != Value::Kind::kConstant)
      return invalid_argument("{} is no constant", name_of(g_, id));
    if (wanted.kind == PictureValue::Kind::kResult && !wanted.output && !wanted.shared) {
      if (g_.is_output(id)) return invalid_argument("{} is an output of the graph", name_of(g_, id));
      for (NodeId user : g_.users(id))
        if (std::ranges::find(match_.nodes, user) == match_.nodes.end())
          return invalid_argument("{} has another user, {}", name_of(g_, id), name_of(g_, user));
    }
    return wanted.type ? check_type(*wanted.type, id) : Status::ok();
  }

  Status check_type(const graph::TypeSyntax& wanted, ValueId id) {
    const ops::TensorType& type = g_.value(id).type;
    const std::string dtype(dtype_name(type.dtype));
    std::string expected = wanted.dtype;
    if (expected[0] == '$') expected = dtypes_.try_emplace(expected, dtype).first->second;
    if (expected != "_" && expected != dtype)
      return invalid_argument("{} is {}, not {}", name_of(g_, id), dtype, expected);
    if (wanted.dims.size() == 1 && wanted.dims[0].text == "...") return Status::ok();
    if (static_cast<int>(wanted.dims.size()) != type.shape.rank())
      return invalid_argument("{} is {}, which has not {} dimensions", name_of(g_, id), graph::print_type(type),
                              wanted.dims.size());
    for (size_t d = 0; d < wanted.dims.size(); ++d) {
      const std::string& text = wanted.dims[d].text;
      if (text == "_") continue;
      const Dim& dim = type.shape[static_cast<int>(d)];
      std::string size = text;
      if (!std::isdigit(static_cast<unsigned char>(text[0])))
        size = dims_.try_emplace(text, dim.to_string()).first->second;
      if (size != dim.to_string())
        return invalid_argument("{} is {}, whose dimension {} is not {}", name_of(g_, id), graph::print_type(type), d,
                                size);
    }
    return Status::ok();
  }

  // What comes into the match must not depend on what is in it: the replacement runs as one.
  Status check_order() const {
    const std::set<NodeId> inside(match_.nodes.begin(), match_.nodes.end());
    size_t first = position(match_.nodes[0]);
    for (NodeId n : match_.nodes) first = std::min(first, position(n));
    std::set<NodeId> seen;
    std::vector<ValueId> todo;
    for (size_t i = 0; i < pattern_.values.size(); ++i)
      if (pattern_.values[i].kind != PictureValue::Kind::kResult && match_.values[i].valid())
        todo.push_back(match_.values[i]);
    while (!todo.empty()) {
      const NodeId producer = g_.value(todo.back()).producer;
      const ValueId at = todo.back();
      todo.pop_back();
      if (!producer.valid() || position(producer) < first) continue;
      if (inside.contains(producer))
        return invalid_argument("an input of the pattern depends on {}, which is part of it", name_of(g_, at));
      if (!seen.insert(producer).second) continue;
      for (ValueId in : g_.node(producer).inputs)
        if (in.valid()) todo.push_back(in);
    }
    return Status::ok();
  }

  const Graph& g_;
  const Picture& pattern_;
  Condition condition_;
  NodeId anchor_;
  Match match_;
  std::map<std::string, std::string> dtypes_, dims_;  // what `$f` and `n` in types stand for
  std::optional<Found> refused_;
};

}  // namespace

ValueId Match::value(std::string_view name) const {
  const int index = pattern->find(name);
  NEREID_CHECK(index != kAbsent);
  return values[static_cast<size_t>(index)];
}

std::optional<Found> find_match(const Graph& g, const Picture& pattern, NodeId anchor, Condition condition) {
  if (g.node(anchor).op != pattern.nodes[0].op) return std::nullopt;
  return Search(g, pattern, condition).run(anchor);
}

}  // namespace nereid::passes
