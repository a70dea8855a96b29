// SPDX-License-Identifier: Apache-2.0
// ai.onnx.ml TreeEnsembleRegressor, TreeEnsembleClassifier and TreeEnsemble: lists of nodes become constants in the one
// order that ops/tree_ensemble.cc walks.
#include <algorithm>
#include <cmath>
#include <map>

#include "import/onnx/ops/model_parts.h"
#include "import/onnx/ops/node_context.h"
#include "ops/elements.h"

namespace nereid::import::onnx {
namespace {

using Integers = std::vector<int64_t>;
using Reals = std::vector<double>;

// What both the older and the newest form come to before the nodes are put in order.
struct Forest {
  struct Node {
    int64_t mode = 0, feature = 0, if_true = 0, if_false = 0;  // branches: an inner node, or -1 - leaf
    bool missing_true = false;
    double split = 0;
    Reals members;
  };
  struct Vote {
    int64_t target;
    double weight;
  };
  Integers roots;
  std::vector<Node> nodes;
  std::vector<std::vector<Vote>> leaves;
  DType dtype = DType::f32;  // of splits and weights
};

// A list that must have n elements, or none.
template <typename T>
Status has_size(const std::vector<T>& list, size_t n, std::string_view name, bool may_be_empty = false) {
  if (list.size() == n || (may_be_empty && list.empty())) return Status::ok();
  return invalid_argument("its attribute '{}' has {} elements and should have {}", name, list.size(), n);
}

struct List {
  Reals values;
  DType dtype = DType::f32;
};

Result<List> read_reals(NodeContext& node, std::string_view list, std::string_view tensor) {
  List out;
  if (!node.has_attr(tensor)) {
    NEREID_TRY(out.values, node.reals(list, Reals()));
    return out;
  }
  NEREID_TRY(const ops::Tensor t, node.tensor(tensor));
  if (!is_float(t.dtype) && !is_integer(t.dtype))
    return invalid_argument("its attribute '{}' holds {}", tensor, dtype_name(t.dtype));
  const ops::Elements<double> values = ops::load<double>(t.view());
  out.values.assign(values.begin(), values.end());
  if (t.dtype == DType::f64) out.dtype = DType::f64;
  return out;
}

// The nodes from the roots on, each before those it leads to: walking then always goes forward. A node that is reached
// again on its own path is refused; one that several lead to is kept once.
Result<Integers> order_nodes(const Forest& forest) {
  const int64_t n = static_cast<int64_t>(forest.nodes.size());
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(forest.nodes.size(), kNew);
  Integers order, stack;
  for (int64_t root : forest.roots) {
    if (root < 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const int64_t at = stack.back();
      uint8_t& s = state[static_cast<size_t>(at)];
      if (s != kNew) {
        stack.pop_back();
        if (s == kOpen) order.push_back(at);
        s = kDone;
        continue;
      }
      s = kOpen;
      const Forest::Node& node = forest.nodes[static_cast<size_t>(at)];
      for (int64_t next : {node.if_true, node.if_false}) {
        if (next >= n) return invalid_argument("its node {} leads to node {}, but there are {}", at, next, n);
        if (next < 0) continue;
        if (state[static_cast<size_t>(next)] == kOpen)
          return invalid_argument("its trees are none: node {} leads back to node {}", at, next);
        if (state[static_cast<size_t>(next)] == kNew) stack.push_back(next);
      }
    }
  }
  std::ranges::reverse(order);
  return order;
}

ValueId integers_of(NodeContext& node, const Integers& values) {
  return node.constant_integers(values);
}

ValueId reals_of(NodeContext& node, DType dtype, const Reals& values) {
  ops::Tensor t = ops::Tensor::zeros(dtype, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<double>(t.view(), std::span<const double>(values));
  return node.constant(std::move(t));
}

// The arguments of tree_ensemble and tree_classifier.
Result<std::vector<ValueId>> arguments(NodeContext& node, const Forest& forest, ValueId base_values) {
  NEREID_TRY(const Integers order, order_nodes(forest));
  std::vector<int64_t> place(forest.nodes.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) place[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const auto to = [&](int64_t r) { return r < 0 ? r : place[static_cast<size_t>(r)]; };
  Integers roots, modes, features, if_true, if_false, missing, member_starts = {0}, leaf_starts = {0}, targets;
  Reals splits, weights, members;
  for (int64_t r : forest.roots) roots.push_back(to(r));
  for (int64_t i : order) {
    const Forest::Node& n = forest.nodes[static_cast<size_t>(i)];
    modes.push_back(n.mode);
    features.push_back(n.feature);
    if_true.push_back(to(n.if_true));
    if_false.push_back(to(n.if_false));
    missing.push_back(n.missing_true ? 1 : 0);
    splits.push_back(n.split);
    members.insert(members.end(), n.members.begin(), n.members.end());
    member_starts.push_back(static_cast<int64_t>(members.size()));
  }
  for (const auto& leaf : forest.leaves) {
    for (const Forest::Vote& v : leaf) {
      targets.push_back(v.target);
      weights.push_back(v.weight);
    }
    leaf_starts.push_back(static_cast<int64_t>(targets.size()));
  }
  std::vector<ValueId> out = {node.input(0)};
  for (const Integers* list : {&roots, &modes, &features}) out.push_back(integers_of(node, *list));
  out.push_back(reals_of(node, forest.dtype, splits));
  for (const Integers* list : {&if_true, &if_false, &missing, &leaf_starts, &targets})
    out.push_back(integers_of(node, *list));
  out.push_back(reals_of(node, forest.dtype, weights));
  out.push_back(base_values);
  if (!members.empty()) {
    out.push_back(integers_of(node, member_starts));
    out.push_back(reals_of(node, forest.dtype, members));
  }
  return out;
}

Result<int64_t> mode_of(const std::string& text) {
  constexpr std::string_view kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  for (size_t i = 0; i < std::size(kModes); ++i)
    if (kModes[i] == text) return static_cast<int64_t>(i);
  if (text == "LEAF") return int64_t{-1};
  return invalid_argument(
      "a node's mode is '{}'; it should be BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, "
      "BRANCH_NEQ or LEAF",
      text);
}

// The older form: nodes and votes named by pairs of tree and node. `votes` is "target" or "class".
Result<Forest> read_older(NodeContext& node, const std::string& votes) {
  NEREID_TRY(const Integers trees, node.integers("nodes_treeids"));
  NEREID_TRY(const Integers ids, node.integers("nodes_nodeids"));
  NEREID_TRY(const Integers features, node.integers("nodes_featureids"));
  NEREID_TRY(const Integers if_true, node.integers("nodes_truenodeids"));
  NEREID_TRY(const Integers if_false, node.integers("nodes_falsenodeids"));
  NEREID_TRY(const Integers missing, node.integers("nodes_missing_value_tracks_true", Integers()));
  NEREID_TRY(const std::vector<std::string> modes, node.texts("nodes_modes"));
  NEREID_TRY(const List splits, read_reals(node, "nodes_values", "nodes_values_as_tensor"));
  NEREID_TRY(const Integers vote_trees, node.integers(votes + "_treeids"));
  NEREID_TRY(const Integers vote_nodes, node.integers(votes + "_nodeids"));
  NEREID_TRY(const Integers vote_targets, node.integers(votes + "_ids"));
  NEREID_TRY(const List weights, read_reals(node, votes + "_weights", votes + "_weights_as_tensor"));
  const size_t n = ids.size();
  NEREID_RETURN_IF_ERROR(has_size(trees, n, "nodes_treeids"));
  NEREID_RETURN_IF_ERROR(has_size(features, n, "nodes_featureids"));
  NEREID_RETURN_IF_ERROR(has_size(if_true, n, "nodes_truenodeids"));
  NEREID_RETURN_IF_ERROR(has_size(if_false, n, "nodes_falsenodeids"));
  NEREID_RETURN_IF_ERROR(has_size(modes, n, "nodes_modes"));
  NEREID_RETURN_IF_ERROR(has_size(splits.values, n, "nodes_values"));
  NEREID_RETURN_IF_ERROR(has_size(missing, n, "nodes_missing_value_tracks_true", true));
  NEREID_RETURN_IF_ERROR(has_size(vote_nodes, vote_trees.size(), votes + "_nodeids"));
  NEREID_RETURN_IF_ERROR(has_size(vote_targets, vote_trees.size(), votes + "_ids"));
  NEREID_RETURN_IF_ERROR(has_size(weights.values, vote_trees.size(), votes + "_weights"));

  Forest forest;
  if (splits.dtype == DType::f64 || weights.dtype == DType::f64) forest.dtype = DType::f64;
  // What a pair of tree and node refers to.
  std::map<std::pair<int64_t, int64_t>, int64_t> reference;
  std::vector<size_t> inner;
  for (size_t i = 0; i < n; ++i) {
    NEREID_TRY(const int64_t mode, mode_of(modes[i]));
    int64_t r = 0;
    if (mode < 0) {
      r = -1 - static_cast<int64_t>(forest.leaves.size());
      forest.leaves.emplace_back();
    } else {
      r = static_cast<int64_t>(forest.nodes.size());
      forest.nodes.push_back({.mode = mode,
                              .feature = features[i],
                              .missing_true = !missing.empty() && missing[i] != 0,
                              .split = splits.values[i],
                              .members = {}});
      inner.push_back(i);
    }
    if (!reference.try_emplace({trees[i], ids[i]}, r).second)
      return invalid_argument("its tree {} has two nodes {}", trees[i], ids[i]);
    // A tree begins with its first node.
    if (i == 0 || trees[i] != trees[i - 1]) forest.roots.push_back(r);
  }
  const auto find = [&](int64_t tree, int64_t id) -> Result<int64_t> {
    const auto it = reference.find({tree, id});
    if (it == reference.end()) return invalid_argument("its tree {} has no node {}", tree, id);
    return it->second;
  };
  for (size_t k = 0; k < inner.size(); ++k) {
    const size_t i = inner[k];
    NEREID_TRY(forest.nodes[k].if_true, find(trees[i], if_true[i]));
    NEREID_TRY(forest.nodes[k].if_false, find(trees[i], if_false[i]));
  }
  for (size_t v = 0; v < vote_trees.size(); ++v) {
    NEREID_TRY(const int64_t r, find(vote_trees[v], vote_nodes[v]));
    // Votes of inner nodes are never counted.
    if (r < 0) forest.leaves[static_cast<size_t>(-1 - r)].push_back({vote_targets[v], weights.values[v]});
  }
  return forest;
}

// Sets of members, each ended by what is no number, for the nodes of that mode in order.
Status give_members(Forest& forest, const Reals& values) {
  size_t at = 0;
  for (Forest::Node& node : forest.nodes) {
    if (node.mode != 6) continue;
    if (at >= values.size())
      return invalid_argument("its membership_values end before its nodes of mode BRANCH_MEMBER");
    while (at < values.size() && !std::isnan(values[at])) node.members.push_back(values[at++]);
    ++at;
  }
  return Status::ok();
}

Result<Forest> read_newest(NodeContext& node) {
  Forest forest;
  NEREID_TRY(forest.roots, node.integers("tree_roots"));
  NEREID_TRY(const Integers features, node.integers("nodes_featureids"));
  NEREID_TRY(const Integers if_true, node.integers("nodes_truenodeids"));
  NEREID_TRY(const Integers if_false, node.integers("nodes_falsenodeids"));
  NEREID_TRY(const Integers true_leafs, node.integers("nodes_trueleafs"));
  NEREID_TRY(const Integers false_leafs, node.integers("nodes_falseleafs"));
  NEREID_TRY(const Integers missing, node.integers("nodes_missing_value_tracks_true", Integers()));
  NEREID_TRY(const Integers targets, node.integers("leaf_targetids"));
  NEREID_TRY(const List modes, read_reals(node, "", "nodes_modes"));
  NEREID_TRY(const List splits, read_reals(node, "", "nodes_splits"));
  NEREID_TRY(const List weights, read_reals(node, "", "leaf_weights"));
  NEREID_TRY(const List members, read_reals(node, "", "membership_values"));
  const size_t n = features.size();
  NEREID_RETURN_IF_ERROR(has_size(if_true, n, "nodes_truenodeids"));
  NEREID_RETURN_IF_ERROR(has_size(if_false, n, "nodes_falsenodeids"));
  NEREID_RETURN_IF_ERROR(has_size(true_leafs, n, "nodes_trueleafs"));
  NEREID_RETURN_IF_ERROR(has_size(false_leafs, n, "nodes_falseleafs"));
  NEREID_RETURN_IF_ERROR(has_size(missing, n, "nodes_missing_value_tracks_true", true));
  NEREID_RETURN_IF_ERROR(has_size(modes.values, n, "nodes_modes"));
  NEREID_RETURN_IF_ERROR(has_size(splits.values, n, "nodes_splits"));
  NEREID_RETURN_IF_ERROR(has_size(weights.values, targets.size(), "leaf_weights"));
  if (splits.dtype == DType::f64 || weights.dtype == DType::f64) forest.dtype = DType::f64;
  for (size_t i = 0; i < targets.size(); ++i) forest.leaves.push_back({{targets[i], weights.values[i]}});
  const int64_t leaves = static_cast<int64_t>(targets.size());
  const auto branch = [&](int64_t id, bool leaf) -> Result<int64_t> {
    const int64_t most = leaf ? leaves : static_cast<int64_t>(n);
    if (id < 0 || id >= most)
      return invalid_argument("a node leads to {} {}, but there are {}", leaf ? "leaf" : "node", id, most);
    return leaf ? -1 - id : id;
  };
  for (size_t i = 0; i < n; ++i) {
    NEREID_TRY(const int64_t yes, branch(if_true[i], true_leafs[i] != 0));
    NEREID_TRY(const int64_t no, branch(if_false[i], false_leafs[i] != 0));
    forest.nodes.push_back({.mode = static_cast<int64_t>(modes.values[i]),
                            .feature = features[i],
                            .if_true = yes,
                            .if_false = no,
                            .missing_true = !missing.empty() && missing[i] != 0,
                            .split = splits.values[i],
                            .members = {}});
  }
  for (int64_t r : forest.roots) NEREID_RETURN_IF_ERROR(branch(r, false));
  NEREID_RETURN_IF_ERROR(give_members(forest, members.values));
  return forest;
}

// An enumeration's word by its number.
Result<std::string> word(NodeContext& node, std::string_view attr, int64_t fallback,
                         std::initializer_list<const char*> words) {
  NEREID_TRY(const int64_t i, node.integer(attr, fallback));
  if (i < 0 || i >= static_cast<int64_t>(words.size()))
    return invalid_argument("its {} is {}; it should be 0 to {}", attr, i, words.size() - 1);
  return std::string(words.begin()[i]);
}

}  // namespace

Status import_tree_regressor(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const Forest forest, read_older(node, "target"));
  NEREID_TRY(const int64_t targets, node.integer("n_targets", 1));
  NEREID_TRY(std::string aggregate, node.text("aggregate_function", "SUM"));
  NEREID_TRY(std::string post, node.text("post_transform", "NONE"));
  NEREID_TRY(const ValueId base, constant_reals(node, "base_values", "base_values_as_tensor"));
  NEREID_TRY(std::vector<ValueId> inputs, arguments(node, forest, base));
  return node.lower("tree_ensemble", std::move(inputs),
                    {{"aggregate_function", std::move(aggregate)},
                     {"dtype", std::string("f32")},
                     {"n_targets", targets},
                     {"post_transform", std::move(post)}});
}

Status import_tree_classifier(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const ClassLabels labels, read_labels(node, "classlabels_int64s"));
  if (labels.count() == 0) return invalid_argument("it has no labels");
  NEREID_TRY(const Forest forest, read_older(node, "class"));
  NEREID_TRY(std::string post, node.text("post_transform", "NONE"));
  NEREID_TRY(const ValueId base, constant_reals(node, "base_values", "base_values_as_tensor"));
  NEREID_TRY(std::vector<ValueId> inputs, arguments(node, forest, base));
  NEREID_TRY(const std::vector<ValueId> results,
             node.emit_all("tree_classifier", std::move(inputs),
                           {{"n_targets", labels.count()}, {"post_transform", std::move(post)}}, 2));
  return give_classes(node, labels, results);
}

Status import_tree_ensemble(NodeContext& node) {
  NEREID_RETURN_IF_ERROR(node.expect_inputs(1, 1));
  NEREID_TRY(const Forest forest, read_newest(node));
  NEREID_TRY(const int64_t targets, node.integer("n_targets", 1));
  NEREID_TRY(std::string aggregate, word(node, "aggregate_function", 1, {"AVERAGE", "SUM", "MIN", "MAX"}));
  NEREID_TRY(std::string post,
             word(node, "post_transform", 0, {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}));
  NEREID_TRY(std::vector<ValueId> inputs, arguments(node, forest, ValueId()));
  return node.lower("tree_ensemble", std::move(inputs),
                    {{"aggregate_function", std::move(aggregate)},
                     {"dtype", std::string(dtype_name(node.type(node.input(0)).dtype))},
                     {"n_targets", targets},
                     {"post_transform", std::move(post)}});
}

}  // namespace nereid::import::onnx
