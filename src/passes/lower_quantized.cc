// SPDX-License-Identifier: Apache-2.0
// lower_quantized: a layer whose operands are dequantised right before it multiplies their codes: dense_q, conv_last_q.
// What follows goes in where it can: quantising again, and in networks that quantise a layer's result before they add
// to it, that rounding, the sum and its activation; in networks that quantise before the activation and after it, all
// of that as a table of codes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/quantized_layer.h"
#include "passes/elementwise.h"
#include "passes/layer_inputs.h"
#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;
using namespace ops;  // the names of the inputs

bool multiplies_codes(const Node* node) {
  return node != nullptr && (node->op->name == "dense" || node->op->name == "conv_last");
}

// Weights as int8 without zero point, where they fit.
Result<ValueId> symmetric(Edit& edit, const Codes& w) {
  const graph::Value value = edit.value(w.codes);
  if (!edit.has_data(w.codes) || value.data.parts.size() != 1) return unsupported("%{} carries no data", value.name);
  const auto zeros = w.zero.valid() ? edit.numbers(w.zero) : std::optional(std::vector<double>{0});
  if (!zeros || zeros->empty()) return unsupported("the zero points of %{} are not known", value.name);
  const bool zero = std::ranges::all_of(*zeros, [](double z) { return z == 0; });
  if (zero && value.type.dtype == DType::i8) return w.codes;
  const AxisSteps steps = axis_steps(value.type.shape.sizes(), w.axis);
  std::vector<double> numbers = *edit.numbers(w.codes);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto at = static_cast<int64_t>(i) / steps.inner % steps.size;
    numbers[i] -= (*zeros)[zeros->size() == 1 ? 0 : static_cast<size_t>(at)];
    if (numbers[i] < -128 || numbers[i] > 127)
      return unsupported("a weight of %{} is {} away from its zero point, which no int8 holds", value.name, numbers[i]);
  }
  return edit.constant(value.name + ".int8", DType::i8, value.type.shape.sizes(), numbers);
}

// What a layer becomes: the inputs of the quantised op, and what its result replaces.
struct Lowered {
  std::string_view op;
  std::vector<ValueId> inputs;
  Attrs attrs;
  ValueId result;
  NodeId at;  // where it is inserted
};

// Those of the attributes that an op has too.
Attrs known_attrs(const OpDef& op, const Attrs& attrs) {
  Attrs out;
  for (const auto& [name, value] : attrs.values())
    if (std::ranges::find(op.attrs, name, &AttrSpec::name) != op.attrs.end()) out.set(name, value);
  return out;
}

double number_of(const Attrs& attrs, std::string_view name, double absent) {
  return attrs.has(name) ? attrs.real(name) : absent;
}

Result<Lowered> lowered(Edit& edit, NodeId id) {
  const Node layer = edit.graph().node(id);
  const bool conv = layer.op->name == "conv_last";
  const auto x = dequantised(edit, layer.inputs[kX]);
  const auto w = dequantised(edit, layer.inputs[kW]);
  if (!x || !w) return unsupported("its operands are no codes");
  if (!x->one) return unsupported("%{} has many scales", edit.value(x->codes).name);
  if (edit.is_constant(x->codes)) return unsupported("%{} is constant", edit.value(x->codes).name);
  if (!grid_of(edit, *x) && edit.type(x->codes).dtype != DType::u8)
    return unsupported("the scale of %{} is not known, and it is i8", edit.value(x->codes).name);
  const Shape& shape = edit.type(w->codes).shape;
  if (conv && (shape.rank() < 3 || shape.rank() > 4))
    return unsupported("there are {} spatial dimensions", shape.rank() - 2);
  const int64_t columns_axis = conv || layer.attrs.boolean("transposed") ? 0 : 1;
  if (!w->one && w->axis != columns_axis) return unsupported("its weights have scales along axis {}", w->axis);
  const auto scales = edit.numbers(w->scale);
  if (!scales) return unsupported("the scales of its weights are not known");
  const std::string_view op = conv ? "conv_last_q" : "dense_q";
  Lowered out{op, std::vector<ValueId>(kQInputs), known_attrs(*find_op(op), layer.attrs), layer.outputs[0], id};
  NEREID_TRY(out.inputs[kQW], symmetric(edit, *w));
  out.inputs[kQX] = x->codes;
  out.inputs[kQXScale] = x->scale;
  out.inputs[kQXZero] = x->zero;
  const auto count = static_cast<int64_t>(scales->size());
  out.inputs[kQWScale] = edit.rank(w->scale) == 1
                             ? w->scale
                             : edit.constant(edit.value(w->scale).name + ".row", DType::f32, {count}, *scales);
  if (const ValueId bias = layer.inputs[kBias]; bias.valid()) {
    if (edit.type(bias).dtype != DType::f32) return unsupported("its bias is {}", edit.type(bias).to_string());
    out.inputs[kQBias] = bias;
  }
  return out;
}

void take_residual(Edit& edit, Lowered& layer, ValueId r) {
  layer.inputs[kQResidual] = r;
  const auto codes = dequantised(edit, r);
  const auto grid = codes ? grid_of(edit, *codes) : std::nullopt;
  if (!grid) return;
  layer.inputs[kQResidual] = codes->codes;
  layer.inputs[kQResidualScale] = codes->scale;
  layer.inputs[kQResidualZero] =
      codes->zero.valid() ? codes->zero : zero_constant(edit, edit.value(codes->codes).name + ".zero", grid->dtype, 0);
}

// The only reader of a value, if it quantises to one known scale.
std::optional<Codes> quantised_next(const Edit& edit, ValueId y) {
  if (!edit.single_use(y)) return std::nullopt;
  const auto codes = quantised(edit, edit.graph().node(edit.graph().users(y)[0]));
  return codes && grid_of(edit, *codes) ? codes : std::nullopt;
}

ValueId zero_of(Edit& edit, const Codes& codes) {
  if (codes.zero.valid()) return codes.zero;
  return zero_constant(edit, edit.value(codes.codes).name + ".zero", edit.type(codes.codes).dtype, 0);
}

// Whether another layer that comes later than `id` will take the sum of its quantised result and others in.
bool later_quantized_layer(const Edit& edit, ValueId r, NodeId id) {
  const auto codes = dequantised(edit, r);
  if (!codes || !edit.single_use(r) || !edit.single_use(codes->codes)) return false;
  const Node* quantiser = edit.made_by(codes->codes, "quantize_linear");
  if (quantiser == nullptr || !edit.single_use(quantiser->inputs[0])) return false;
  const ValueId y = quantiser->inputs[0];
  const Node* layer = edit.maker(y);
  return multiplies_codes(layer) && !layer->inputs[kResidual].valid() && dequantised(edit, layer->inputs[kX]) &&
         dequantised(edit, layer->inputs[kW]) &&
         edit.graph().position_of(edit.value(y).producer) > edit.graph().position_of(id);
}

// The sum that the layer's quantised result goes into, as add(dequantised, r): its rounding, r, the activation.
void take_sum(Edit& edit, NodeId id, Lowered& layer) {
  const graph::Graph& g = edit.graph();
  const auto inner = quantised_next(edit, layer.result);
  if (!inner || layer.inputs[kQResidual].valid() || !edit.single_use(inner->codes)) return;
  const Node& back = g.node(g.users(inner->codes)[0]);
  if (back.op->name != "dequantize_linear") return;
  const auto again = dequantised(edit, back.outputs[0]);
  if (!again || grid_of(edit, *again) != grid_of(edit, *inner) || !edit.single_use(back.outputs[0])) return;
  const NodeId sum_id = g.users(back.outputs[0])[0];
  const Node& sum = g.node(sum_id);
  if (sum.op->name != "add") return;
  const ValueId r = sum.inputs[sum.inputs[0] == back.outputs[0] ? 1 : 0], y = sum.outputs[0];
  if (r == back.outputs[0] || edit.type(r).dtype != DType::f32 || later_quantized_layer(edit, r, id) ||
      !edit.is_ranked(r) || !edit.is_ranked(y) || !same_shape(edit.type(r).shape, edit.type(y).shape) ||
      !same_shape(edit.type(layer.result).shape, edit.type(y).shape))
    return;
  take_residual(edit, layer, r);
  layer.inputs[kQSumScale] = inner->scale;
  layer.inputs[kQSumZero] = zero_of(edit, *inner);
  layer.result = y;
  layer.at = sum_id;
  const bool plain = layer.attrs.text("activation") == "none" && number_of(layer.attrs, "scale", 1) == 1 &&
                     number_of(layer.attrs, "shift", 0) == 0;
  layer.attrs.set("residual_last", !plain);
  if (!plain || !edit.single_use(y)) return;
  const NodeId act_id = g.users(y)[0];
  const Node& act = g.node(act_id);
  const auto activation =
      act.outputs.size() == 1 && is_elementwise(act.op->name) ? activation_of(edit, act) : std::nullopt;
  if (!activation || act.inputs[0] != y) return;
  layer.attrs.set("activation", std::string(activation->name));
  layer.attrs.set("alpha", activation->alpha);
  layer.attrs.set("beta", activation->beta);
  layer.result = act.outputs[0];
  layer.at = act_id;
}

// What is done to the layer's codes one by one before they are quantised again: its nodes on all 256 codes make a
// table, which fold_dequantized computes. Nodes of one operand that changes; the others are single constants.
struct CodeChain {
  std::vector<std::pair<NodeId, size_t>> nodes;  // with the operand that changes
  ValueId result;                                // of the last one, codes again
};
std::optional<CodeChain> code_chain(const Edit& edit, ValueId codes) {
  constexpr size_t kMostNodes = 8;
  const graph::Graph& g = edit.graph();
  const Shape& shape = edit.type(codes).shape;
  CodeChain chain;
  for (ValueId v = codes; chain.nodes.size() < kMostNodes && edit.single_use(v);) {
    const NodeId id = g.users(v)[0];
    const Node& node = g.node(id);
    if (node.outputs.size() != 1 || std::ranges::count(node.inputs, v) != 1) return std::nullopt;
    const auto at = static_cast<size_t>(std::ranges::find(node.inputs, v) - node.inputs.begin());
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (i != at && node.inputs[i].valid() && (!edit.scalar(node.inputs[i]) || edit.rank(node.inputs[i]) > 1))
        return std::nullopt;
    const ValueId y = node.outputs[0];
    if (!edit.is_ranked(y) || !same_shape(edit.type(y).shape, shape)) return std::nullopt;
    if (chain.nodes.empty()) {
      const auto real = dequantised(edit, y);
      if (!real || at != 0 || !grid_of(edit, *real)) return std::nullopt;
    } else if (const auto next = quantised(edit, node)) {
      if (!grid_of(edit, *next) || edit.type(next->codes).dtype != DType::u8) return std::nullopt;
      chain.nodes.emplace_back(id, at);
      chain.result = y;
      return chain;
    } else if (!is_elementwise(node.op->name)) {
      return std::nullopt;
    }
    chain.nodes.emplace_back(id, at);
    v = y;
  }
  return std::nullopt;
}

Status take_map(Edit& edit, Lowered& layer) {
  if (edit.type(layer.result).dtype != DType::u8) return Status::ok();
  const auto chain = code_chain(edit, layer.result);
  if (!chain) return Status::ok();
  std::vector<double> all(256);
  std::iota(all.begin(), all.end(), 0);
  const NodeId last = chain->nodes.back().first;
  const std::string name = edit.value(chain->result).name;
  ValueId table = edit.constant(name + ".codes", DType::u8, {256}, all);
  for (const auto& [id, at] : chain->nodes) {
    const Node node = edit.graph().node(id);
    std::vector<ValueId> inputs = node.inputs;
    inputs[at] = table;
    NEREID_TRY(table, edit.insert(last, node.op->name, std::move(inputs), node.attrs, name + ".map"));
  }
  layer.inputs[kQMap] = table;
  layer.result = chain->result;
  layer.at = last;
  return Status::ok();
}

Result<ValueId> lower(Edit& edit, NodeId id) {
  NEREID_TRY(Lowered layer, lowered(edit, id));
  if (const ValueId r = edit.graph().node(id).inputs[kResidual]; r.valid()) take_residual(edit, layer, r);
  take_sum(edit, id, layer);
  if (const auto codes = quantised_next(edit, layer.result)) {
    const NodeId quantiser = edit.graph().users(layer.result)[0];
    layer.inputs[kQYScale] = codes->scale;
    layer.inputs[kQYZero] = zero_of(edit, *codes);
    layer.result = codes->codes;
    layer.at = quantiser;
    NEREID_RETURN_IF_ERROR(take_map(edit, layer));
  }
  NEREID_TRY(const ValueId y, edit.insert(layer.at, layer.op, layer.inputs, layer.attrs));
  NEREID_RETURN_IF_ERROR(edit.replace(layer.result, y));
  return y;
}

// Means of what codes stand for: the mean of the codes, then the scale.
Result<ValueId> mean_of_codes(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const auto codes = dequantised(edit, node.inputs[0]);
  if (!codes || !codes->one || node.attrs.text("kind") != "average") return ValueId{};
  const auto grid = grid_of(edit, *codes);
  if (!grid) return ValueId{};
  if (node.op->name == "pool_last" && node.attrs.boolean("count_include_pad") && grid->zero != 0)
    return unsupported("its padding counts as zeros, not as the code {}", grid->zero);
  const std::string name = edit.value(node.outputs[0]).name;
  NEREID_TRY(ValueId mean, edit.insert(id, node.op->name, {codes->codes}, node.attrs, name + ".codes"));
  if (grid->zero != 0) {
    const ValueId zero = edit.constant(name + ".zero", DType::f32, {}, {grid->zero});
    NEREID_TRY(mean, edit.insert(id, "sub", {mean, zero}, {}, name + ".centred"));
  }
  NEREID_TRY(const ValueId y, edit.insert(id, "mul", {mean, codes->scale}));
  NEREID_RETURN_IF_ERROR(edit.replace(node.outputs[0], y));
  return y;
}

}  // namespace

Status lower_quantized(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).outputs.empty()) continue;
    const std::string_view op = g.node(id).op->name;
    const bool pool = op == "pool_last" || op == "global_pool_last";
    const bool layer = multiplies_codes(&g.node(id)) && dequantised(edit, g.node(id).inputs[kX]).has_value();
    if (!pool && !layer) continue;
    std::string where = edit.where(id);
    const auto now = layer ? lower(edit, id) : mean_of_codes(edit, id);
    if (now.is_ok() && !now->valid()) continue;
    std::string what;
    if (now.is_ok())
      what = fmt::format("{} of codes{}", edit.maker(*now)->op->name,
                         edit.type(*now).dtype == DType::f32 ? "" : ", to codes");
    edit.record(std::move(where), now.status(), std::move(what));
  }
  return Status::ok();
}

}  // namespace nereid::passes
