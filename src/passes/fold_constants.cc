// SPDX-License-Identifier: Apache-2.0
// fold_constants: a node that reads only constants is computed now, by its evaluator, if that is cheap and its results
// are small or no larger than what they are made of. Constants that only take other sizes share their bytes.
// fold_dequantized: the same, and codes too that a layer or a table might have used as they are, but does not.
#include <algorithm>

#include "graph/evaluate.h"
#include "ops/run.h"
#include "passes/edit.h"
#include "passes/pass_list.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

constexpr double kSmallBytes = 1 << 20;  // a folded constant lives in the graph, not in the weight file
constexpr double kLargestBytes = 512.0 * (1 << 20);
constexpr double kMostFlops = 2e8;  // evaluators are slow; this is a fraction of a second

// Ops whose result is x's elements in order.
bool only_resizes(std::string_view op) {
  return op == "reshape" || op == "reshape_to" || op == "flatten" || op == "squeeze" || op == "unsqueeze" ||
         op == "identity";
}

// Weights of a layer whose other operand is dequantised too, and tables that are looked up: their codes are wanted.
// What only moves elements on the way will change places with the dequantising (move_quantize).
bool codes_are_wanted(const Edit& edit, ValueId real, int depth = 0) {
  const graph::Graph& g = edit.graph();
  return std::ranges::any_of(g.users(real), [&](NodeId id) {
    const Node& user = g.node(id);
    const std::string_view op = user.op->name;
    if (op == "gather") return user.inputs[0] == real;
    if (op == "transpose" || op == "reshape") return depth < 4 && codes_are_wanted(edit, user.outputs[0], depth + 1);
    const bool layer = op == "matmul" || op == "gemm" || op == "conv" || op == "dense" || op == "conv_last";
    if (!layer || user.inputs[1] != real) return false;
    ValueId x = user.inputs[0];
    for (int i = 0; i < 8; ++i) {
      const Node* maker = edit.maker(x);
      if (maker == nullptr) return false;
      if (maker->op->name == "dequantize_linear") return !edit.is_constant(maker->inputs[0]);
      if (!only_resizes(maker->op->name) && maker->op->name != "transpose" && maker->op->name != "max_pool")
        return false;
      x = maker->inputs[0];
    }
    return false;
  });
}

// Why not; ok if the node can be folded.
Status can_fold(const graph::Graph& g, const Node& node) {
  if (node.op->is_random) return unsupported("every run gives another result");
  std::vector<const ops::TensorType*> inputs;
  double bytes_read = 0;
  for (ValueId in : node.inputs) {
    if (in.valid() && !node.op->of_sizes && g.value(in).data.parts.empty())
      return unsupported("%{} carries no data", g.value(in).name);
    inputs.push_back(in.valid() ? &g.value(in).type : nullptr);
    if (in.valid())
      for (const ConstTensorView& part : g.value(in).data.parts) bytes_read += static_cast<double>(part.bytes());
  }
  if (only_resizes(node.op->name) || node.op->of_sizes) return Status::ok();
  std::vector<ops::TensorType> outputs;
  for (ValueId out : node.outputs) outputs.push_back(g.value(out).type);
  for (const ops::TensorType& type : outputs)
    if (!type.is_tensor()) return unsupported("{} is no plain tensor", type.to_string());
  if (node.op->evaluate == nullptr || !std::ranges::all_of(outputs, [](auto& t) { return t.shape.is_static(); }))
    return bytes_read <= kSmallBytes ? Status::ok() : unsupported("how large its result is cannot be told");
  const std::vector<const ConstTensorView*> constants(inputs.size(), nullptr);
  const ops::InferContext context{.inputs = inputs, .constants = constants, .attrs = node.attrs};
  if (node.op->cost == nullptr) return Status::ok();
  const ops::Cost cost = node.op->cost(context, outputs);
  // Real numbers take four times the bytes of their codes.
  const double growth = node.op->name == "dequantize_linear" ? 5 : 2;
  const double most = std::min(kLargestBytes, std::max(kSmallBytes, growth * bytes_read));
  if (cost.bytes_written > most)
    return unsupported("its result of {:.0f} bytes is larger than {:.0f}", cost.bytes_written, most);
  if (cost.flops > kMostFlops)
    return unsupported("it takes {:.0f} operations, more than {:.0f}", cost.flops, kMostFlops);
  return Status::ok();
}

// The same bytes under other sizes.
bool fold_view(graph::Graph& g, const Node& node, std::vector<ValueId>& made) {
  const graph::Value& x = g.value(node.inputs[0]);
  const graph::Value& y = g.value(node.outputs[0]);
  if (!only_resizes(node.op->name) || node.outputs.size() != 1 || x.data.parts.size() != 1 ||
      !y.type.shape.is_ranked() || !y.type.shape.is_static() || y.type.shape.elements() != x.type.shape.elements())
    return false;
  ConstTensorView view = x.data.parts[0];
  view.sizes = y.type.shape.sizes();
  const ops::TensorType type = y.type;
  made.push_back(g.add_constant(y.name, type, {.parts = {view}}));
  return true;
}

Result<std::vector<ValueId>> compute(graph::Graph& g, const Node& node) {
  std::vector<ops::Tensor> inputs;
  std::vector<ConstTensorView> views;
  for (ValueId in : node.inputs) {
    inputs.emplace_back();
    const graph::Value* value = in.valid() ? &g.value(in) : nullptr;
    if (value == nullptr || value->data.parts.size() == 1 || node.op->of_sizes) continue;
    NEREID_TRY(inputs.back(), graph::join_parts(*value));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const graph::Value* value = node.inputs[i].valid() ? &g.value(node.inputs[i]) : nullptr;
    if (value == nullptr) {
      views.emplace_back();
    } else if (node.op->of_sizes) {  // looks at no element
      views.emplace_back(static_cast<const void*>(&g), value->type.dtype, value->type.shape.sizes());
    } else {
      views.push_back(value->data.parts.size() == 1 ? value->data.parts[0] : std::as_const(inputs[i]).view());
    }
  }
  NEREID_TRY(auto results, ops::run(*node.op, views, {}, node.attrs));
  if (results.size() < node.outputs.size()) return internal("it gave {} results", results.size());
  std::vector<ValueId> made;
  for (size_t i = 0; i < node.outputs.size(); ++i)
    made.push_back(g.add_constant(g.value(node.outputs[i]).name, std::move(results[i])));
  return made;
}

Status fold(graph::Graph& g, NodeId id) {
  const Node node = g.node(id);
  std::vector<ValueId> made;
  if (!fold_view(g, node, made)) {
    NEREID_TRY(made, compute(g, node));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    names.push_back(g.value(node.outputs[i]).name);
    g.replace_all_uses(node.outputs[i], made[i]);
  }
  g.erase_node(id);
  for (size_t i = 0; i < names.size(); ++i) g.rename(made[i], std::move(names[i]));
  return Status::ok();
}

// What is known now of a node whose inputs have become constants.
void refine(graph::Graph& g, NodeId id) {
  const auto types = g.infer_results(g.node(id), g.node(id).outputs.size());
  if (!types.is_ok()) return;
  for (size_t i = 0; i < types->size() && i < g.node(id).outputs.size(); ++i) {
    const ValueId out = g.node(id).outputs[i];
    if (const auto both = merge_types(g.value(out).type, (*types)[i])) g.set_type(out, *both);
  }
}

}  // namespace

namespace {

Status fold_all(graph::Graph& g, PassContext& context, bool keep_codes) {
  Edit edit(g, context);
  std::vector<bool> changed(g.value_count(), false);  // values whose type or kind is news to their readers
  const std::vector<NodeId> order = g.order();
  const auto is_new = [&](ValueId in) {
    return in.valid() && (static_cast<size_t>(in.v) >= changed.size() || changed[static_cast<size_t>(in.v)]);
  };
  for (NodeId id : order) {
    if (std::ranges::any_of(g.node(id).inputs, is_new)) {
      std::vector<ops::TensorType> before;
      for (ValueId out : g.node(id).outputs) before.push_back(g.value(out).type);
      refine(g, id);
      for (size_t i = 0; i < before.size(); ++i) {
        const ValueId out = g.node(id).outputs[i];
        if (!(before[i] == g.value(out).type)) changed[static_cast<size_t>(out.v)] = true;
      }
    }
    const Node& node = g.node(id);
    if (!node.regions.empty() || node.outputs.empty()) continue;
    const bool known = std::ranges::all_of(node.inputs, [&](ValueId in) {
      if (!in.valid()) return true;
      const graph::Value& v = g.value(in);
      if (node.op->of_sizes) return v.type.is_tensor() && v.type.shape.is_ranked() && v.type.shape.is_static();
      return v.kind == graph::Value::Kind::kConstant;
    });
    if (!known) continue;
    if (keep_codes && node.op->name == "dequantize_linear" && codes_are_wanted(edit, node.outputs[0])) continue;
    std::string where = edit.where(id);
    Status folded = can_fold(g, node);
    if (folded.is_ok()) folded = fold(g, id);
    edit.record(std::move(where), folded, "computed");
  }
  return Status::ok();
}

}  // namespace

Status fold_constants(graph::Graph& g, PassContext& context) {
  return fold_all(g, context, true);
}

Status fold_dequantized(graph::Graph& g, PassContext& context) {
  return fold_all(g, context, false);
}

}  // namespace nereid::passes
