// SPDX-License-Identifier: Apache-2.0
// Decision trees: tree_ensemble gives the votes of their leaves, tree_classifier the winning class too.
//
// All trees share one list of inner nodes. A reference to a node is its position; -1 - i refers to leaf i, which holds
// the votes leaf_starts[i] to leaf_starts[i + 1]. A reference leads forward only (it is greater than the node it is of,
// or a leaf), so that no walk can go round in circles.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elements.h"
#include "ops/model_scores.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum Argument : size_t {
  kX,
  kRoots,
  kModes,
  kFeatures,
  kSplits,
  kTrueNext,
  kFalseNext,
  kMissingTrue,
  kLeafStarts,
  kVoteTargets,
  kVoteWeights,
  kBaseValues,
  kMemberStarts,
  kMembers,
  kArguments
};

constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "roots"},
                               {.name = "modes"},
                               {.name = "features"},
                               {.name = "splits"},
                               {.name = "true_next"},
                               {.name = "false_next"},
                               {.name = "missing_true"},
                               {.name = "leaf_starts"},
                               {.name = "vote_targets"},
                               {.name = "vote_weights"},
                               {.name = "base_values", .optional = true},
                               {.name = "member_starts", .optional = true},
                               {.name = "members", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr ArgSpec kClassOutputs[] = {{.name = "class"}, {.name = "scores"}};
constexpr AttrSpec kAttrs[] = {
    {"aggregate_function", AttrSpec::Kind::kString, "SUM", "of the votes for a target: SUM, AVERAGE, MIN or MAX"},
    {"dtype", AttrSpec::Kind::kString, "f32", "the result's element type"},
    {"n_targets", AttrSpec::Kind::kInt, "", "columns of the result"},
    kPostTransformAttr};
constexpr AttrSpec kClassAttrs[] = {{"n_targets", AttrSpec::Kind::kInt, "", "classes"}, kPostTransformAttr};

enum class Mode : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember };

Status check(const ShapeRule& rule, const Attrs& attrs) {
  if (!is_float(rule.type(kX).dtype) && !is_integer(rule.type(kX).dtype)) return no_such_elements(rule.type(kX).dtype);
  NEREID_RETURN_IF_ERROR(rule.has_rank(kX, 2));
  for (size_t i = kRoots; i < kArguments; ++i) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    const bool real = i == kSplits || i == kVoteWeights || i == kBaseValues || i == kMembers;
    if (real ? !is_float(rule.type(i).dtype) : !is_integer(rule.type(i).dtype))
      return invalid_argument("{} should be of {} type", rule.describe(i), real ? "a float" : "an integer");
  }
  for (size_t i : {kFeatures, kSplits, kTrueNext, kFalseNext, kMissingTrue})
    NEREID_RETURN_IF_ERROR(rule.agree(kModes, 0, i, 0));
  NEREID_RETURN_IF_ERROR(rule.agree(kVoteTargets, 0, kVoteWeights, 0));
  const int64_t n = attrs.integer("n_targets");
  if (n < 1 || n > int64_t{1} << 32) return invalid_argument("n_targets is {}; it should be positive", n);
  return read_post_transform(attrs).status();
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(check(rule, ctx.attrs));
  const std::string& how = ctx.attrs.text("aggregate_function");
  if (how != "SUM" && how != "AVERAGE" && how != "MIN" && how != "MAX")
    return invalid_argument("aggregate_function is '{}'; it should be SUM, AVERAGE, MIN or MAX", how);
  const auto dtype = dtype_from_name(ctx.attrs.text("dtype"));
  if (!dtype || !is_float(*dtype))
    return invalid_argument("dtype is '{}'; it should be a float type", ctx.attrs.text("dtype"));
  return std::vector<TensorType>{{*dtype, Shape({rule.dim(kX, 0), Dim(ctx.attrs.integer("n_targets"))})}};
}

Result<std::vector<TensorType>> infer_class(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(check(rule, ctx.attrs));
  return std::vector<TensorType>{{DType::i64, Shape({rule.dim(kX, 0)})},
                                 {DType::f32, Shape({rule.dim(kX, 0), Dim(ctx.attrs.integer("n_targets"))})}};
}

DType class_dtype(const InferContext&, size_t output) {
  return output == 0 ? DType::i64 : DType::f32;
}

struct Trees {
  Elements<int64_t> roots, modes, features, true_next, false_next, missing_true, leaf_starts, targets, member_starts;
  Elements<double> splits, weights, base, members;

  // The leaf that a row of features ends in.
  int64_t walk(int64_t at, const double* row) const {
    while (at >= 0) {
      const double v = row[features[at]];
      at = (std::isnan(v) && missing_true[at] != 0) || holds(at, v) ? true_next[at] : false_next[at];
    }
    return -1 - at;
  }

 private:
  bool holds(int64_t at, double v) const {
    const double split = splits[at];
    switch (static_cast<Mode>(modes[at])) {
      case Mode::kLeq:
        return v <= split;
      case Mode::kLt:
        return v < split;
      case Mode::kGte:
        return v >= split;
      case Mode::kGt:
        return v > split;
      case Mode::kEq:
        return v == split;
      case Mode::kNeq:
        return v != split;
      case Mode::kMember:
        break;
    }
    const double* first = members.data() + member_starts[at];
    const double* last = members.data() + member_starts[at + 1];
    return std::find(first, last, v) != last;
  }
};

// Starts of consecutive pieces: from 0 on, never falling, at most `most`.
bool are_starts(const Elements<int64_t>& starts, int64_t most) {
  int64_t before = 0;
  for (int64_t s : starts) {
    if (s < before || s > most) return false;
    before = s;
  }
  return starts.size() > 0;
}

// All references checked, so that walking needs no checks.
Result<Trees> read_trees(std::span<const ConstTensorView> inputs, int64_t features, int64_t targets) {
  Trees t;
  const auto integers = [&](Argument i) { return load<int64_t>(inputs[i]); };
  const auto has = [&](Argument i) { return inputs[i].data != nullptr && inputs[i].elements() > 0; };
  t.roots = integers(kRoots);
  t.modes = integers(kModes);
  t.features = integers(kFeatures);
  t.true_next = integers(kTrueNext);
  t.false_next = integers(kFalseNext);
  t.missing_true = integers(kMissingTrue);
  t.leaf_starts = integers(kLeafStarts);
  t.targets = integers(kVoteTargets);
  t.splits = load<double>(inputs[kSplits]);
  t.weights = load<double>(inputs[kVoteWeights]);
  if (has(kBaseValues)) t.base = load<double>(inputs[kBaseValues]);
  if (has(kMemberStarts)) t.member_starts = integers(kMemberStarts);
  if (has(kMembers)) t.members = load<double>(inputs[kMembers]);
  if (!are_starts(t.leaf_starts, t.targets.size()))
    return invalid_argument("leaf_starts does not divide the {} votes into leaves", t.targets.size());
  const int64_t nodes = t.modes.size(), leaves = t.leaf_starts.size() - 1;
  const auto is_reference = [&](int64_t r, int64_t after) { return r < 0 ? r >= -leaves : r > after && r < nodes; };
  for (int64_t r : t.roots)
    if (!is_reference(r, -1))
      return invalid_argument("a root is {}; there are {} nodes and {} leaves", r, nodes, leaves);
  bool has_members = false;
  for (int64_t i = 0; i < nodes; ++i) {
    if (t.features[i] < 0 || t.features[i] >= features)
      return invalid_argument("node {} asks for feature {}, but x has {}", i, t.features[i], features);
    if (t.modes[i] < 0 || t.modes[i] > static_cast<int64_t>(Mode::kMember))
      return invalid_argument("node {} has mode {}; it should be 0 to 6", i, t.modes[i]);
    if (!is_reference(t.true_next[i], i) || !is_reference(t.false_next[i], i))
      return invalid_argument("node {} leads to {} and {}; it should lead to later nodes or to one of {} leaves", i,
                              t.true_next[i], t.false_next[i], leaves);
    has_members |= t.modes[i] == static_cast<int64_t>(Mode::kMember);
  }
  if (has_members && (t.member_starts.size() != nodes + 1 || !are_starts(t.member_starts, t.members.size())))
    return invalid_argument("member_starts does not divide the {} members among the {} nodes", t.members.size(), nodes);
  for (int64_t target : t.targets)
    if (target < 0 || target >= targets)
      return invalid_argument("a leaf votes for {}, but there are {} targets", target, targets);
  if (t.base.size() > 1 && t.base.size() != targets)
    return invalid_argument("base_values has {} numbers and should have {}", t.base.size(), targets);
  return t;
}

struct Votes {
  std::vector<double> sums;
  std::vector<bool> voted;
};

// The votes for one row, aggregated. F: sum = f(sum, weight).
template <typename F>
void count_votes(const Trees& trees, const double* row, F&& f, Votes& votes) {
  std::ranges::fill(votes.sums, 0.0);
  std::fill(votes.voted.begin(), votes.voted.end(), false);
  for (int64_t root : trees.roots) {
    const int64_t leaf = trees.walk(root, row);
    for (int64_t v = trees.leaf_starts[leaf]; v < trees.leaf_starts[leaf + 1]; ++v) {
      const size_t target = static_cast<size_t>(trees.targets[v]);
      votes.sums[target] = votes.voted[target] ? f(votes.sums[target], trees.weights[v]) : trees.weights[v];
      votes.voted[target] = true;
    }
  }
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const int64_t targets = ctx.attrs.integer("n_targets"), features = x.sizes[1];
  NEREID_TRY(const Trees trees, read_trees(ctx.inputs, features, targets));
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const std::string& how = ctx.attrs.text("aggregate_function");
  const Elements<double> rows = load<double>(x);
  Elements<double> y(ctx.outputs[0].elements());
  Votes votes{std::vector<double>(static_cast<size_t>(targets)), std::vector<bool>(static_cast<size_t>(targets))};
  for (int64_t r = 0; r < x.sizes[0]; ++r) {
    const double* row = rows.data() + r * features;
    if (how == "MIN") {
      count_votes(
          trees, row, [](double a, double b) { return std::min(a, b); }, votes);
    } else if (how == "MAX") {
      count_votes(
          trees, row, [](double a, double b) { return std::max(a, b); }, votes);
    } else {
      count_votes(
          trees, row, [](double a, double b) { return a + b; }, votes);
    }
    const double trees_count = static_cast<double>(std::max<int64_t>(trees.roots.size(), 1));
    for (size_t i = 0; i < votes.sums.size(); ++i) {
      if (how == "AVERAGE") votes.sums[i] /= trees_count;
      if (trees.base.size() > 0) votes.sums[i] += trees.base[trees.base.size() == 1 ? 0 : static_cast<int64_t>(i)];
    }
    // One score alone is left as it is by all but PROBIT.
    if (targets > 1 || post == PostTransform::kProbit) transform_scores(post, votes.sums);
    std::ranges::copy(votes.sums, y.data() + r * targets);
  }
  return store<double>(ctx.outputs[0], y);
}

// Two classes of which only one gets votes, as boosting of a binary target gives: the votes are the second's score.
struct Binary {
  bool is_binary = false, is_probability = true;
  size_t voted = 0;
};

Binary is_binary(const Trees& trees, int64_t classes) {
  Binary b;
  if (classes > 2 || trees.base.size() > 1 || trees.targets.size() == 0) return b;
  b.voted = static_cast<size_t>(trees.targets[0]);
  b.is_binary = std::ranges::all_of(trees.targets, [&](int64_t t) { return t == trees.targets[0]; });
  b.is_probability = std::ranges::all_of(trees.weights, [](double w) { return w >= 0; });
  return b;
}

Status evaluate_class(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const int64_t classes = ctx.attrs.integer("n_targets"), features = x.sizes[1];
  NEREID_TRY(const Trees trees, read_trees(ctx.inputs, features, classes));
  NEREID_TRY(const PostTransform post, read_post_transform(ctx.attrs));
  const Binary binary = is_binary(trees, classes);
  const Elements<double> rows = load<double>(x);
  Elements<double> scores(ctx.outputs[1].elements());
  Elements<int64_t> winners(x.sizes[0]);
  Votes votes{std::vector<double>(static_cast<size_t>(classes)), std::vector<bool>(static_cast<size_t>(classes))};
  for (int64_t r = 0; r < x.sizes[0]; ++r) {
    count_votes(
        trees, rows.data() + r * features, [](double a, double b) { return a + b; }, votes);
    if (binary.is_binary) {
      double& s = votes.sums[binary.voted];
      if (trees.base.size() == 1) s += trees.base[0];
      winners[r] = s > (binary.is_probability ? 0.5 : 0.0) ? 1 : 0;
      if (classes == 2 && binary.voted == 0) {
        votes.sums = both_classes(post, s, binary.is_probability);
      } else if (classes == 2) {
        transform_scores(post, votes.sums);
      }
    } else {
      double best = -std::numeric_limits<double>::infinity();
      for (int64_t c = 0; c < classes; ++c) {
        const size_t i = static_cast<size_t>(c);
        if (trees.base.size() > 0) votes.sums[i] += trees.base[trees.base.size() == 1 ? 0 : c];
        // A class that nothing speaks for does not win.
        if ((votes.voted[i] || trees.base.size() > 0) && votes.sums[i] > best) {
          best = votes.sums[i];
          winners[r] = c;
        }
      }
      transform_scores(post, votes.sums);
    }
    std::ranges::copy(votes.sums, scores.data() + r * classes);
  }
  NEREID_RETURN_IF_ERROR(store<int64_t>(ctx.outputs[0], winners));
  return store<double>(ctx.outputs[1], scores);
}

}  // namespace

extern constexpr OpDef kTreeClassifier = {
    .name = "tree_classifier",
    .summary = "class = the one with most votes of the leaves that x ends in; scores = the votes, transformed",
    .inputs = kInputs,
    .outputs = kClassOutputs,
    .attrs = kClassAttrs,
    .infer = infer_class,
    .evaluate = evaluate_class,
    .cost = cost_per_element<8>,
    .dtype_of = class_dtype};
extern constexpr OpDef kTreeEnsemble = {
    .name = "tree_ensemble",
    .summary = "y = transform(aggregate(votes of the leaves that x ends in) + base_values)",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<8>};

}  // namespace nereid::ops
