// SPDX-License-Identifier: Apache-2.0
// fold_affine: y = s x + t with constants, one s and t a channel, moves into the weights and bias of the convolution or
// dense layer before it, or after it: batch norm, products and sums. A batch norm that stays is a product and a sum.
#include <algorithm>
#include <cmath>
#include <span>

#include "passes/edit.h"
#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

struct Affine {
  ValueId x;
  std::vector<double> scale, shift;  // one a channel each
};

// Where the channels of a layer's result are; -1: it is no such layer.
int channel_axis(const Edit& edit, const Node* layer) {
  if (layer == nullptr) return -1;
  if (layer->op->name == "conv" || layer->op->name == "conv_transpose") return 1;
  const std::string_view op = layer->op->name;
  const bool lowered = op == "dense" || op == "conv_last" || op == "conv_transpose_last";
  const bool plain = lowered && layer->attrs.text("activation") == "none" && !layer->inputs[3].valid();
  return plain ? edit.rank(layer->outputs[0]) - 1 : -1;
}

// One number a channel.
std::vector<double> spread(std::vector<double> values, int64_t channels) {
  if (values.size() == 1) values.assign(static_cast<size_t>(channels), values[0]);
  return values;
}

std::optional<Affine> read_batch_norm(const Edit& edit, const Node& node) {
  std::vector<std::vector<double>> p;
  for (size_t i = 1; i < 5; ++i) {
    auto numbers = edit.numbers(node.inputs[i]);
    if (!numbers || numbers->empty()) return std::nullopt;
    p.push_back(std::move(*numbers));
  }
  Affine out{node.inputs[0], p[0], p[1]};
  for (size_t c = 0; c < out.scale.size(); ++c) {
    out.scale[c] = p[0][c] / std::sqrt(p[3][c] + node.attrs.real("epsilon"));
    out.shift[c] = p[1][c] - p[2][c] * out.scale[c];
  }
  return out;
}

std::optional<Affine> read(const Edit& edit, const Node& node, int axis) {
  const std::string_view op = node.op->name;
  if (op == "batch_normalization") return read_batch_norm(edit, node);
  if ((op != "add" && op != "sub" && op != "mul" && op != "div") || !edit.is_ranked(node.outputs[0]))
    return std::nullopt;
  const Shape& shape = edit.type(node.outputs[0]).shape;
  if (axis >= shape.rank() || !shape[axis].is_static()) return std::nullopt;
  for (size_t i : {0, 1}) {
    if (i == 1 && op == "div") break;
    const ValueId x = node.inputs[i], c = node.inputs[1 - i];
    if (edit.is_constant(x) || !edit.is_ranked(x) || edit.rank(x) != shape.rank() || axis < 0) continue;
    if (!same_size(edit.type(x).shape[axis], shape[axis])) continue;
    auto values = along_axis(edit, c, shape, axis);
    if (!values || values->empty()) continue;
    std::vector<double> v = spread(std::move(*values), shape[axis].size());
    Affine out{x, std::vector<double>(v.size(), 1), std::vector<double>(v.size(), 0)};
    for (size_t k = 0; k < v.size(); ++k) {
      if (op == "add") out.shift[k] = v[k];
      if (op == "sub") out.shift[k] = i == 0 ? -v[k] : v[k];
      if (op == "sub" && i == 1) out.scale[k] = -1;
      if (op == "mul") out.scale[k] = v[k];
      if (op == "div") out.scale[k] = 1 / v[k];
    }
    return out;
  }
  return std::nullopt;
}

// Multiplies each weight with its output channel's number.
template <typename T>
void scale_weight(const Node& layer, const std::vector<int64_t>& sizes, const std::vector<double>& scale,
                  std::span<T> w) {
  const std::string_view op = layer.op->name;
  const auto count = static_cast<int64_t>(w.size());
  // The weight as [outer, channels, inner]; of transposed convolutions a group's rows take the group's channels.
  int64_t outer = 1, channels = sizes[0], group = 1;
  if (op == "dense" && !layer.attrs.boolean("transposed")) outer = sizes[0], channels = sizes[1];
  if (op == "conv_transpose" || op == "conv_transpose_last")
    outer = sizes[0], channels = sizes[1], group = layer.attrs.integer("group");
  if (count == 0) return;
  const int64_t inner = count / (outer * channels);
  for (int64_t o = 0; o < outer; ++o) {
    const int64_t first = o / (outer / group) * channels;
    for (int64_t c = 0; c < channels; ++c) {
      const auto factor = static_cast<T>(scale[static_cast<size_t>((group > 1 ? first : 0) + c)]);
      T* at = w.data() + (o * channels + c) * inner;
      for (int64_t i = 0; i < inner; ++i) at[i] *= factor;
    }
  }
}

ValueId scaled(Edit& edit, const Node& layer, const std::vector<double>& scale) {
  const graph::Value old = edit.value(layer.inputs[1]);
  const std::vector<int64_t> sizes = old.type.shape.sizes();
  if (old.type.dtype == DType::f32 && old.data.parts.size() == 1) {
    const auto given = old.data.parts[0].span<float>();
    std::vector<float> w(given.begin(), given.end());
    scale_weight<float>(layer, sizes, scale, w);
    return edit.graph().add_constant_f32(old.name, std::move(w), sizes);
  }
  std::vector<double> w = *edit.numbers(layer.inputs[1]);
  scale_weight<double>(layer, sizes, scale, w);
  return edit.constant(old.name, old.type.dtype, sizes, w);
}

Result<ValueId> into_layer(Edit& edit, NodeId id, const Affine& affine) {
  const Node layer = *edit.maker(affine.x);
  if (!edit.single_use(affine.x)) return unsupported("%{} has other users", edit.value(affine.x).name);
  const bool changes = std::ranges::any_of(affine.scale, [](double s) { return s != 1; });
  if (!is_float(edit.type(layer.inputs[1]).dtype) ||
      (changes ? !edit.has_data(layer.inputs[1]) : !is_weight_value(edit, layer.inputs[1])))
    return unsupported("the weights %{} are not known", edit.value(layer.inputs[1]).name);
  std::vector<double> bias(affine.scale.size(), 0);
  if (layer.inputs[2].valid()) {
    const auto known = edit.numbers(layer.inputs[2]);
    if (!known || known->size() != bias.size())
      return unsupported("the bias %{} is not known", edit.value(layer.inputs[2]).name);
    bias = *known;
  }
  bool scales = false, shifts = layer.inputs[2].valid();
  for (size_t c = 0; c < bias.size(); ++c) {
    scales = scales || affine.scale[c] != 1;
    bias[c] = bias[c] * affine.scale[c] + affine.shift[c];
    shifts = shifts || bias[c] != 0;
  }
  std::vector<ValueId> inputs = layer.inputs;
  const DType dtype = edit.type(layer.inputs[1]).dtype;
  if (scales) {
    inputs[1] = scaled(edit, layer, affine.scale);
  }
  if (shifts)
    inputs[2] = edit.constant(
        (layer.inputs[2].valid() ? edit.value(layer.inputs[2]).name : edit.value(affine.x).name + ".bias"), dtype,
        {static_cast<int64_t>(bias.size())}, bias);
  NEREID_TRY(const ValueId y, edit.insert(id, layer.op->name, inputs, layer.attrs));
  NEREID_RETURN_IF_ERROR(edit.replace(edit.graph().node(id).outputs[0], y));
  for (size_t i : {1, 2})
    if (layer.inputs[i].valid()) edit.take_name(layer.inputs[i], inputs[i]);
  return y;
}

// mul and add, in the shape [C, 1, ...].
Result<ValueId> as_product_and_sum(Edit& edit, NodeId id, const Affine& affine) {
  if (!edit.is_ranked(affine.x) || edit.rank(affine.x) < 2) return unsupported("the rank of x is not known");
  const ops::TensorType type = edit.type(affine.x);
  std::vector<int64_t> sizes(static_cast<size_t>(type.shape.rank() - 1), 1);
  sizes[0] = static_cast<int64_t>(affine.scale.size());
  const std::string name = edit.value(edit.graph().node(id).outputs[0]).name;
  const ValueId scale = edit.constant(name + ".scale", type.dtype, sizes, affine.scale);
  const ValueId shift = edit.constant(name + ".shift", type.dtype, sizes, affine.shift);
  NEREID_TRY(ValueId product, edit.insert(id, "mul", {affine.x, scale}, {}, name + ".scaled"));
  NEREID_TRY(const ValueId sum, edit.insert(id, "add", {product, shift}));
  NEREID_RETURN_IF_ERROR(edit.replace(edit.graph().node(id).outputs[0], sum));
  return sum;
}

bool is_padded(const Node& conv) {
  const std::string& mode = conv.attrs.text("auto_pad");
  if (mode != "NOTSET") return mode != "VALID";
  return std::ranges::any_of(conv.attrs.integers("pads"), [](int64_t p) { return p != 0; });
}

// The layer with what is done to its input before built in: w (s x + t) + b = (w s) x + (w t + b). Invalid: there is
// nothing.
Result<ValueId> from_input(Edit& edit, NodeId id) {
  const Node layer = edit.graph().node(id);
  const bool conv = layer.op->name == "conv";
  const ValueId x = layer.inputs[0];
  const Node* before = edit.maker(x);
  if (before == nullptr || before->op->name == "batch_normalization" || !edit.is_ranked(x) || !edit.single_use(x))
    return ValueId{};
  const auto affine = read(edit, *before, conv ? 1 : edit.rank(x) - 1);
  if (!affine) return ValueId{};
  const bool shifts = std::ranges::any_of(affine->shift, [](double t) { return t != 0; });
  if (shifts && conv && is_padded(layer)) return unsupported("the padding is not shifted");
  const graph::Value old = edit.value(layer.inputs[1]);
  if (old.type.dtype != DType::f32 || old.data.parts.size() != 1) return unsupported("%{} is not f32", old.name);
  const std::vector<int64_t> sizes = old.type.shape.sizes();
  // The weight as [outputs, inputs of a group, taps] with steps.
  const bool transposed = !conv && layer.attrs.boolean("transposed");
  const int64_t outputs = conv || transposed ? sizes[0] : sizes[1];
  const int64_t inputs = conv || transposed ? sizes[1] : sizes[0];
  const int64_t taps = old.type.shape.elements().value_or(0) / std::max<int64_t>(1, outputs * inputs);
  const int64_t groups = conv ? layer.attrs.integer("group") : 1;
  const int64_t output_step = conv || transposed ? inputs * taps : 1, input_step = conv || transposed ? taps : outputs;
  if (static_cast<int64_t>(affine->scale.size()) != inputs * groups || outputs % groups != 0)
    return internal("{} channels and {} of {}", affine->scale.size(), inputs, groups);
  std::vector<double> bias(static_cast<size_t>(outputs), 0);
  if (layer.inputs[2].valid()) {
    const auto known = edit.numbers(layer.inputs[2]);
    if (!known || known->size() != bias.size()) return unsupported("the bias is not known");
    bias = *known;
  }
  const auto given = old.data.parts[0].span<float>();
  std::vector<float> w(given.begin(), given.end());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t i = 0; i < inputs; ++i) {
      const auto channel = static_cast<size_t>(o / (outputs / groups) * inputs + i);
      float* at = w.data() + o * output_step + i * input_step;
      for (int64_t k = 0; k < taps; ++k) {
        bias[static_cast<size_t>(o)] += at[k] * affine->shift[channel];
        at[k] *= static_cast<float>(affine->scale[channel]);
      }
    }
  std::vector<ValueId> arguments = layer.inputs;
  arguments[0] = affine->x;
  arguments[1] = edit.graph().add_constant_f32(old.name, std::move(w), sizes);
  if (shifts)
    arguments[2] = edit.constant(
        layer.inputs[2].valid() ? edit.value(layer.inputs[2]).name : edit.value(layer.outputs[0]).name + ".bias",
        DType::f32, {outputs}, bias);
  NEREID_TRY(const ValueId y, edit.insert(id, layer.op->name, arguments, layer.attrs));
  NEREID_RETURN_IF_ERROR(edit.replace(layer.outputs[0], y));
  for (size_t i : {1, 2})
    if (layer.inputs[i].valid()) edit.take_name(layer.inputs[i], arguments[i]);
  return y;
}

void fold_inputs(Edit& edit) {
  graph::Graph& g = edit.graph();
  const std::vector<NodeId> order = g.order();
  for (NodeId first : order) {
    NodeId id = first;
    while (g.node(id).op != nullptr && (g.node(id).op->name == "conv" || g.node(id).op->name == "dense") &&
           edit.has_data(g.node(id).inputs[1])) {
      std::string where = edit.where(id);
      const auto now = from_input(edit, id);
      if (now.is_ok() && !now->valid()) break;
      edit.record(std::move(where), now.status(), "with what was done to its input");
      if (!now.is_ok()) break;
      id = g.value(*now).producer;
    }
  }
}

}  // namespace

Status fold_affine(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    const Node* node = &g.node(id);
    if (node->op == nullptr || node->outputs.size() != 1) continue;
    const bool norm = node->op->name == "batch_normalization";
    std::optional<Affine> affine;
    for (size_t i = 0; i < node->inputs.size() && !affine; ++i) {
      const int axis = channel_axis(edit, edit.maker(node->inputs[i]));
      if (axis >= 0 || norm) affine = read(edit, *node, axis);
      if (affine && !norm && affine->x != node->inputs[i]) affine.reset();
      if (norm) break;
    }
    if (!affine) continue;
    std::string where = edit.where(id);
    Result<ValueId> now = unsupported("%{} is no layer", edit.value(affine->x).name);
    if (channel_axis(edit, edit.maker(affine->x)) >= 0) now = into_layer(edit, id, *affine);
    if (!now.is_ok() && norm) now = as_product_and_sum(edit, id, *affine);
    std::string what;
    if (now.is_ok()) what = fmt::format("into the {}", edit.maker(*now)->op->name);
    edit.record(std::move(where), now.status(), std::move(what));
  }
  fold_inputs(edit);
  return Status::ok();
}

}  // namespace nereid::passes
