// SPDX-License-Identifier: Apache-2.0
// layout_last: images go through the graph channels-last, as the kernels want them. Convolutions and pools become their
// channels-last forms; what comes after follows as long as it can; whoever needs the channels first gets one
// transposition, made once.
//
// A value's twin is the same image channels-last. Nodes are visited in order; a node that can work on twins gets a form
// that does, in front of it. At the end the old forms leave, and those of their results that are still read become
// transpositions of their twins.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "passes/edit.h"
#include "passes/elementwise.h"
#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

// Where axis a of [N, C, d1, ...] is in [N, d1, ..., C], and the reverse.
int64_t in_twin(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == 1 ? rank - 1 : axis - 1;
}
int64_t in_original(int64_t axis, int64_t rank) {
  return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1;
}

std::vector<int64_t> to_last(int64_t rank) {
  std::vector<int64_t> out;
  for (int64_t a = 0; a < rank; ++a) out.push_back(in_original(a, rank));
  return out;
}
std::vector<int64_t> to_first(int64_t rank) {
  std::vector<int64_t> out;
  for (int64_t a = 0; a < rank; ++a) out.push_back(in_twin(a, rank));
  return out;
}

Shape permuted(const Shape& shape, const std::vector<int64_t>& permutation) {
  std::vector<Dim> dims;
  for (int64_t a : permutation) dims.push_back(shape[static_cast<int>(a)]);
  return Shape(std::move(dims));
}

bool spatial_ones(const Shape& s) {
  return std::all_of(s.dims().begin() + 2, s.dims().end(), [](const Dim& d) { return d == Dim(1); });
}

class Layout {
 public:
  Layout(graph::Graph& g, PassContext& context) : edit_(g, context), g_(g) {}

  Status run() {
    const std::vector<NodeId> order = g_.order();
    for (NodeId id : order) {
      if (g_.node(id).op == nullptr || g_.node(id).outputs.empty() || !g_.node(id).regions.empty()) continue;
      const auto moved = visit(id);
      if (!moved.is_ok()) edit_.refused(edit_.where(id), std::string(moved.status().message()));
      if (moved.is_ok() && *moved) note(id);
    }
    return finish();
  }

 private:
  bool is_image(ValueId v) const {
    const DType dtype = edit_.type(v).dtype;
    const bool numbers = is_float(dtype) || dtype == DType::u8 || dtype == DType::i8;
    return edit_.is_ranked(v) && edit_.rank(v) >= 3 && edit_.rank(v) <= 4 && numbers;
  }
  bool has_twin(ValueId v) const { return v.valid() && twins_.contains(v.v); }

  // `y` is channels-last what the node's result is.
  void pair(ValueId original, ValueId twin) {
    const ops::TensorType type = edit_.type(original);
    ops::TensorType last{type.dtype, permuted(type.shape, to_last(type.shape.rank()))};
    if (const auto both = merge_types(edit_.type(twin), last)) g_.set_type(twin, *both);
    twins_[original.v] = twin;
  }

  std::string twin_name(ValueId v) const { return edit_.value(v).name + ".last"; }

  // The value channels-last, transposed in front of `before` if nobody has done it.
  Result<ValueId> twin(ValueId v, NodeId before) {
    if (const auto it = twins_.find(v.v); it != twins_.end()) return it->second;
    const int64_t rank = edit_.rank(v);
    ValueId source = v;
    std::vector<int64_t> permutation = to_last(rank);
    if (const Node* node = edit_.made_by(v, "transpose");
        node != nullptr && !node->attrs.integers("permutation").empty()) {
      for (int64_t& a : permutation) a = node->attrs.integers("permutation")[static_cast<size_t>(a)];
      source = node->inputs[0];
    }
    if (std::ranges::is_sorted(permutation)) {
      twins_[v.v] = source;
      return source;
    }
    NEREID_TRY(const ValueId y,
               edit_.insert(before, "transpose", {source}, {{"permutation", permutation}}, twin_name(v)));
    pair(v, y);
    return y;
  }

  // An operand of an elementwise node of `rank`: its twin; as it is if it is one number. Operands of fewer dimensions
  // get leading ones.
  Result<ValueId> operand(ValueId v, int rank, NodeId before) {
    if (!v.valid() || edit_.type(v).shape.elements() == 1) return v;
    if (edit_.rank(v) == rank) return twin(v, before);
    std::vector<int64_t> axes(static_cast<size_t>(rank - edit_.rank(v)));
    std::iota(axes.begin(), axes.end(), 0);
    const std::string name = edit_.value(v).name;
    const ValueId list = edit_.constant_integers(name + ".axes", axes);
    NEREID_TRY(const ValueId wide, edit_.insert(before, "unsqueeze", {v, list}, {}, name + ".wide"));
    return twin(wide, before);
  }

  Result<bool> convert(NodeId id, std::string_view op, std::vector<ValueId> inputs, ops::Attrs attrs) {
    const ValueId out = g_.node(id).outputs[0];
    NEREID_TRY(const ValueId y, edit_.insert(id, op, std::move(inputs), std::move(attrs), twin_name(out)));
    pair(out, y);
    return true;
  }

  Result<bool> visit(NodeId id) {
    const Node node = g_.node(id);
    const std::string_view op = node.op->name;
    if (node.inputs.empty() || !node.inputs[0].valid() || !edit_.is_ranked(node.outputs[0])) return false;
    if (op == "transpose") {
      NEREID_TRY(const bool moved, transpose(id, node));
      // What was channels-last before its transposition has a twin for nothing.
      if (g_.node(id).op != nullptr && is_image(node.inputs[0]) && !has_twin(node.outputs[0]) &&
          node.attrs.integers("permutation") == to_first(edit_.rank(node.inputs[0]))) {
        twins_[node.outputs[0].v] = node.inputs[0];
        free_.insert(node.outputs[0].v);
      }
      return moved;
    }
    if (is_image(node.inputs[0])) {
      if (op == "conv" || op == "conv_transpose") {
        if (!is_weight_value(edit_, node.inputs[1])) return unsupported("the weights are not constant");
        NEREID_TRY(const ValueId x, twin(node.inputs[0], id));
        return convert(id, op == "conv" ? "conv_last" : "conv_transpose_last", {x, node.inputs[1], node.inputs[2]},
                       node.attrs);
      }
      if (op == "max_pool" || op == "average_pool") return pool(id, node);
      if (op == "global_average_pool" || op == "global_max_pool") {
        NEREID_TRY(const ValueId x, twin(node.inputs[0], id));
        return convert(id, "global_pool_last", {x},
                       {{"kind", std::string(op == "global_max_pool" ? "max" : "average")}});
      }
    }
    if (!std::ranges::any_of(node.inputs, [&](ValueId in) { return has_twin(in); })) return false;
    // Where no image kernel made any of them, following must not cost a transposition.
    const bool real =
        std::ranges::any_of(node.inputs, [&](ValueId in) { return has_twin(in) && !free_.contains(in.v); });
    if (!real && !std::ranges::all_of(node.inputs, [&](ValueId in) { return costs_nothing(in); })) return false;
    NEREID_TRY(const bool moved, follow(id, node));
    if (moved && !real)
      for (ValueId out : node.outputs) free_.insert(out.v);
    return moved;
  }

  bool costs_nothing(ValueId v) const {
    if (!v.valid() || has_twin(v) || edit_.is_constant(v)) return true;
    if (!edit_.is_ranked(v)) return false;
    int wide = 0;
    for (const Dim& d : edit_.type(v).shape.dims()) wide += d == Dim(1) ? 0 : 1;
    return wide <= 1 || (edit_.rank(v) > 2 && edit_.type(v).shape[1] == Dim(1));
  }

  Result<bool> pool(NodeId id, const Node& node) {
    const bool largest = node.op->name == "max_pool";
    if (node.outputs.size() > 1) return unsupported("its indices count channels-first");
    NEREID_TRY(const ValueId x, twin(node.inputs[0], id));
    ops::Attrs attrs;
    for (const auto& [name, value] : node.attrs.values())
      if (name != "storage_order" && name != "with_indices") attrs.set(name, value);
    attrs.set("kind", std::string(largest ? "max" : "average"));
    return convert(id, "pool_last", {x}, std::move(attrs));
  }

  Result<bool> transpose(NodeId id, const Node& node) {
    if (!has_twin(node.inputs[0])) return false;
    const int64_t rank = edit_.rank(node.inputs[0]);
    std::vector<int64_t> permutation = node.attrs.integers("permutation");
    if (permutation.empty())
      for (int64_t d = rank; d-- > 0;) permutation.push_back(d);
    for (int64_t& a : permutation) a = in_twin(a, rank);
    const ValueId source = twins_.at(node.inputs[0].v);
    const ValueId out = node.outputs[0];
    if (std::ranges::is_sorted(permutation)) {
      if (g_.is_output(out)) return false;  // the twin has readers of its own; the name must stay
      return replace_now(id, out, source);
    }
    NEREID_TRY(const ValueId y, edit_.insert(id, "transpose", {source}, {{"permutation", permutation}}));
    return replace_now(id, out, y);
  }

  // The node's result itself is found another way. Its old producer leaves; false: there is nothing left to finish.
  Result<bool> replace_now(NodeId, ValueId out, ValueId y) {
    std::string where = edit_.where(out);
    const Status done = edit_.replace(out, y);
    if (done.is_ok()) edit_.fired(std::move(where), fmt::format("from %{}", edit_.value(y).name));
    NEREID_RETURN_IF_ERROR(done);
    return false;
  }

  // Ops that take whatever order there is, on the twins of their inputs.
  Result<bool> follow(NodeId id, const Node& node) {
    const std::string_view op = node.op->name;
    const ValueId x = node.inputs[0], out = node.outputs[0];
    const int rank = edit_.rank(out);
    if (is_elementwise(op)) return elementwise(id, node);
    if (op == "quantize_linear" || op == "dequantize_linear") return quantising(id, node);
    if (op == "concat") {
      if (!is_image(out)) return false;
      std::vector<ValueId> inputs;
      for (ValueId in : node.inputs) {
        NEREID_TRY(const ValueId t, twin(in, id));
        inputs.push_back(t);
      }
      return convert(id, op, std::move(inputs), {{"axis", moved_axis(node.attrs.integer("axis"), rank)}});
    }
    if (!has_twin(x)) return false;
    const ValueId t = twins_.at(x.v);
    if (op == "softmax" || op == "log_softmax")
      return convert(id, op, {t}, {{"axis", moved_axis(node.attrs.integer("axis"), rank)}});
    if (op.starts_with("reduce_")) return reduce(id, node, t);
    if (op == "slice" || op == "pad") return with_axes(id, node, t);
    if (op == "resize") {
      ops::Attrs attrs = node.attrs;
      std::vector<int64_t> axes = attrs.integers("axes");
      if (axes.empty()) {
        axes.resize(static_cast<size_t>(rank));
        std::iota(axes.begin(), axes.end(), 0);
      }
      for (int64_t& a : axes) a = moved_axis(a, rank);
      attrs.set("axes", axes);
      std::vector<ValueId> inputs = node.inputs;
      inputs[0] = t;
      return convert(id, op, std::move(inputs), std::move(attrs));
    }
    if (op == "shape" && node.attrs.integer("start") >= 0 &&
        node.attrs.integer("end") == node.attrs.integer("start") + 1) {  // one size
      const int64_t at = in_twin(node.attrs.integer("start"), edit_.rank(x));
      NEREID_TRY(const ValueId y, edit_.insert(id, "shape", {t}, {{"start", at}, {"end", at + 1}}));
      return replace_now(id, out, y);
    }
    if (op == "split_along") return split(id, node, t);
    if (op == "reshape") return reshape(id, node, t);
    return false;
  }

  static int64_t moved_axis(int64_t axis, int64_t rank) { return in_twin(axis < 0 ? axis + rank : axis, rank); }

  Result<bool> elementwise(NodeId id, const Node& node) {
    const int rank = edit_.rank(node.outputs[0]);
    if (rank < 3 || rank > 4 || node.outputs.size() != 1) return false;
    for (ValueId in : node.inputs) {
      if (!in.valid()) continue;
      if (!edit_.is_ranked(in)) return false;
      if (has_twin(in) && edit_.rank(in) != rank) return unsupported("%{} has another rank", edit_.value(in).name);
    }
    std::vector<ValueId> inputs;
    for (ValueId in : node.inputs) {
      NEREID_TRY(const ValueId t, operand(in, rank, id));
      inputs.push_back(t);
    }
    return convert(id, node.op->name, std::move(inputs), node.attrs);
  }

  Result<bool> quantising(NodeId id, const Node& node) {
    if (!is_image(node.inputs[0]) || !has_twin(node.inputs[0]) || node.attrs.integer("block_size") != 0) return false;
    ops::Attrs attrs = node.attrs;
    attrs.set("axis", moved_axis(attrs.integer("axis"), edit_.rank(node.inputs[0])));
    return convert(id, node.op->name, {twins_.at(node.inputs[0].v), node.inputs[1], node.inputs[2]}, std::move(attrs));
  }

  // Reductions: in the twin's order, or right away where what is left has the same order in both.
  Result<bool> reduce(NodeId id, const Node& node, ValueId t) {
    const int64_t rank = edit_.rank(node.inputs[0]);
    auto axes = node.inputs[1].valid() ? edit_.integers(node.inputs[1]) : std::nullopt;
    if (!axes || axes->empty()) return false;
    std::vector<bool> gone(static_cast<size_t>(rank), false);
    for (int64_t& a : *axes) {
      a = moved_axis(a, rank);
      gone[static_cast<size_t>(a)] = true;
    }
    const bool keep = node.attrs.boolean("keepdims");
    std::ranges::sort(*axes);
    const ValueId list = edit_.constant_integers(edit_.value(node.outputs[0]).name + ".axes", *axes);
    if (keep) return convert(id, node.op->name, {t, list}, node.attrs);
    std::vector<int64_t> left;  // original axes in the order of the twin's result
    for (int64_t a = 0; a < rank; ++a)
      if (!gone[static_cast<size_t>(a)]) left.push_back(in_original(a, rank));
    if (std::ranges::is_sorted(left)) {
      NEREID_TRY(const ValueId y, edit_.insert(id, node.op->name, {t, list}, node.attrs));
      return replace_now(id, node.outputs[0], y);
    }
    const bool twin_again = left.size() == 3 && left[0] == 0 && left.back() == 1;
    if (!twin_again) return false;
    return convert(id, node.op->name, {t, list}, node.attrs);
  }

  // slice, pad: the dimensions are named by an input, or are the first ones.
  Result<bool> with_axes(NodeId id, const Node& node, ValueId t) {
    const int64_t rank = edit_.rank(node.inputs[0]);
    std::vector<int64_t> axes;
    if (node.inputs[3].valid()) {
      const auto known = edit_.integers(node.inputs[3]);
      if (!known) return false;
      axes = *known;
    } else {
      const Shape& list = edit_.type(node.inputs[1]).shape;
      if (!list.is_ranked() || list.rank() != 1 || !list[0].is_static()) return false;
      axes.resize(static_cast<size_t>(node.op->name == "pad" ? list[0].size() / 2 : list[0].size()));
      std::iota(axes.begin(), axes.end(), 0);
    }
    for (int64_t& a : axes) a = moved_axis(a, rank);
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = t;
    inputs[3] = edit_.constant_integers(edit_.value(node.outputs[0]).name + ".axes", axes);
    return convert(id, node.op->name, std::move(inputs), node.attrs);
  }

  Result<bool> split(NodeId id, const Node& node, ValueId t) {
    ops::Attrs attrs = node.attrs;
    attrs.set("axis", moved_axis(attrs.integer("axis"), edit_.rank(node.inputs[0])));
    NEREID_TRY(const auto parts,
               g_.insert_node(id, node.op->name, {t, node.inputs[1]}, attrs, twin_name(node.outputs[0])));
    for (size_t i = 0; i < parts.size(); ++i) pair(node.outputs[i], parts[i]);
    return true;
  }

  // Reshapes of the spatial dimensions alone keep the channel where it is; where there is one pixel, all do.
  Result<bool> reshape(NodeId id, const Node& node, ValueId t) {
    const ValueId x = node.inputs[0], out = node.outputs[0];
    const Shape &from = edit_.type(x).shape, &to = edit_.type(out).shape;
    if (spatial_ones(from)) {
      const auto shape = reshape_shape(edit_.type(t).shape, to);
      if (!shape) return false;
      NEREID_TRY(const ValueId y, edit_.insert(id, "reshape", {t}, {{"shape", *shape}}));
      return replace_now(id, out, y);
    }
    if (to.rank() < 3 || to.rank() > 4 || !same_size(from[0], to[0]) || !same_size(from[1], to[1])) return false;
    const auto shape = reshape_shape(edit_.type(t).shape, permuted(to, to_last(to.rank())));
    if (!shape) return false;
    return convert(id, "reshape", {t}, {{"shape", *shape}});
  }

  // What is needed at the end, when the node may be gone already.
  struct Moved {
    NodeId node;
    std::string where;
    std::vector<std::pair<ValueId, std::string>> names;  // twins, and what they shall be called
  };
  void note(NodeId id) {
    Moved moved{id, edit_.where(id), {}};
    for (ValueId out : g_.node(id).outputs) moved.names.emplace_back(twins_.at(out.v), edit_.value(out).name);
    moved_.push_back(std::move(moved));
  }

  Status finish() {
    for (auto it = moved_.rbegin(); it != moved_.rend(); ++it) {
      const NodeId id = it->node;
      bool back = false;
      if (g_.node(id).op != nullptr) {
        const std::vector<ValueId> outputs = g_.node(id).outputs;
        for (ValueId out : outputs) {
          if (!g_.is_output(out) && g_.users(out).empty()) continue;
          back = true;
          NEREID_TRY(const ValueId y,
                     edit_.insert(id, "transpose", {twins_.at(out.v)}, {{"permutation", to_first(edit_.rank(out))}}));
          NEREID_RETURN_IF_ERROR(edit_.replace(out, y));
        }
        edit_.erase_unused(id);
      }
      edit_.fired(std::move(it->where), back ? "channels-last, and transposed for others" : "channels-last");
    }
    for (auto& [id, where, names] : moved_)
      for (auto& [twin, name] : names)
        if (!g_.find_value(name).valid()) g_.rename(twin, std::move(name));
    return Status::ok();
  }

  Edit edit_;
  graph::Graph& g_;
  std::map<int32_t, ValueId> twins_;
  std::set<int32_t> free_;  // values whose twins come from transpositions, not from kernels
  std::vector<Moved> moved_;
};

}  // namespace

Status layout_last(graph::Graph& g, PassContext& context) {
  return Layout(g, context).run();
}

}  // namespace nereid::passes
