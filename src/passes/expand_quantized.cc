// SPDX-License-Identifier: Apache-2.0
// expand_quantized: one spelling of quantised layers. Operators that take codes and scales (qlinear_conv,
// qlinear_matmul), and products of integers that are scaled afterwards, as dynamic quantisation writes them, become
// layers of real numbers between dequantize_linear and quantize_linear; codes of type i8 between such a pair become u8,
// which kernels read as they are.
#include <algorithm>
#include <cmath>

#include "passes/pass_list.h"
#include "passes/quantized.h"

namespace nereid::passes {
namespace {

using graph::Node;
using graph::NodeId;
using graph::ValueId;

bool all_known(const Edit& edit, const Node& node, std::initializer_list<size_t> inputs) {
  return std::ranges::all_of(inputs,
                             [&](size_t i) { return !node.inputs[i].valid() || edit.has_data(node.inputs[i]); });
}

Result<ValueId> real(Edit& edit, NodeId before, ValueId codes, ValueId scale, ValueId zero, int64_t axis) {
  return edit.insert(before, "dequantize_linear", {codes, scale, zero}, {{"axis", axis}},
                     edit.value(codes).name + ".real");
}

// Inputs: x and its scale and zero point, w likewise, y's scale and zero point, a bias in units of both scales.
Result<ValueId> from_qlinear_conv(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const auto& in = node.inputs;
  if (!all_known(edit, node, {1, 2, 3, 4, 5, 6, 7, 8})) return unsupported("not all but x is constant");
  const double x_scale = *edit.scalar(in[1]);
  const std::vector<double> w_scale = *edit.numbers(in[4]);
  ValueId bias;
  if (in[8].valid()) {
    std::vector<double> numbers = *edit.numbers(in[8]);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= x_scale * w_scale[w_scale.size() == 1 ? 0 : i];
    const auto size = static_cast<int64_t>(numbers.size());
    bias = edit.constant(edit.value(in[8]).name, DType::f32, {size}, numbers);
  }
  NEREID_TRY(const ValueId x, real(edit, id, in[0], in[1], in[2], 1));
  NEREID_TRY(const ValueId w, real(edit, id, in[3], in[4], in[5], 0));
  NEREID_TRY(const ValueId y,
             edit.insert(id, "conv", {x, w, bias}, node.attrs, edit.value(node.outputs[0]).name + ".real"));
  return edit.insert(id, "quantize_linear", {y, in[6], in[7]});
}

Result<ValueId> from_qlinear_matmul(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const auto& in = node.inputs;
  if (!all_known(edit, node, {1, 2, 3, 4, 5, 6, 7})) return unsupported("not all but a is constant");
  if (edit.type(in[0]).dtype != DType::u8 && edit.type(in[0]).dtype != DType::i8)
    return unsupported("%{} is {}", edit.value(in[0]).name, dtype_name(edit.type(in[0]).dtype));
  if (edit.numbers(in[1])->size() != 1) return unsupported("rows have scales of their own");
  NEREID_TRY(const ValueId a, real(edit, id, in[0], in[1], in[2], 1));
  NEREID_TRY(const ValueId b, real(edit, id, in[3], in[4], in[5], -1));
  NEREID_TRY(const ValueId y, edit.insert(id, "matmul", {a, b}, {}, edit.value(node.outputs[0]).name + ".real"));
  return edit.insert(id, "quantize_linear", {y, in[6], in[7]});
}

// The factors of a product of products.
void collect(const Edit& edit, ValueId v, bool root, std::vector<ValueId>& out) {
  const Node* node = edit.made_by(v, "mul");
  if (node == nullptr || out.size() > 8 || (!root && edit.is_constant(v))) return out.push_back(v);
  collect(edit, node->inputs[0], false, out);
  collect(edit, node->inputs[1], false, out);
}

// Numbers of one scale a column, whatever their leading ones.
std::optional<std::vector<double>> column_scales(const Edit& edit, ValueId v, int channel_axis_from_end) {
  const auto numbers = edit.numbers(v, 1 << 20);
  if (!numbers || !edit.is_ranked(v) || edit.type(v).dtype != DType::f32) return std::nullopt;
  const Shape& shape = edit.type(v).shape;
  for (int d = 0; d < shape.rank(); ++d)
    if (shape[d] != Dim(1) && shape.rank() - d != channel_axis_from_end) return std::nullopt;
  return numbers;
}

// A product of factors of which one is the sum of products of codes, one the scale of the left codes, the others
// constants: matmul or conv of what the codes stand for. Invalid: it is none.
Result<ValueId> from_scaled_sum(Edit& edit, NodeId id) {
  std::vector<ValueId> factors;
  collect(edit, edit.graph().node(id).outputs[0], true, factors);
  const Node* sum = nullptr;
  for (ValueId& f : factors) {
    const Node* cast = edit.made_by(f, "cast");
    if (cast == nullptr || edit.type(f).dtype != DType::f32 || !edit.single_use(f)) continue;
    const Node* made = edit.maker(cast->inputs[0]);
    if (made == nullptr || (made->op->name != "matmul_integer" && made->op->name != "conv_integer")) continue;
    if (!edit.single_use(cast->inputs[0])) continue;
    sum = made;
    f = ValueId{};
    break;
  }
  if (sum == nullptr) return ValueId{};
  const Node integer = *sum;
  const bool conv = integer.op->name == "conv_integer";
  const ValueId a = integer.inputs[0], b = integer.inputs[1], a_zero = integer.inputs[2], b_zero = integer.inputs[3];
  if (!edit.is_ranked(b) || !edit.is_ranked(a)) return ValueId{};
  const Node* quantiser = edit.maker(a);
  ValueId a_scale;
  std::vector<double> scales{1};
  for (ValueId f : factors) {
    if (!f.valid()) continue;
    const bool dynamic = quantiser != nullptr && quantiser->op->name == "dynamic_quantize_linear" &&
                         f == quantiser->outputs[1] && a_zero == quantiser->outputs[2];
    const bool fixed = quantiser != nullptr && quantiser->op->name == "quantize_linear" && f == quantiser->inputs[1] &&
                       a_zero == quantiser->inputs[2];
    if ((dynamic || fixed) && !a_scale.valid()) {
      a_scale = f;
      continue;
    }
    const auto more = column_scales(edit, f, conv ? edit.rank(b) - 1 : 1);
    if (!more || (more->size() != 1 && scales.size() != 1 && more->size() != scales.size()))
      return unsupported("%{} is no scale of columns", edit.value(f).name);
    std::vector<double> both(std::max(scales.size(), more->size()));
    for (size_t i = 0; i < both.size(); ++i)
      both[i] = scales[scales.size() == 1 ? 0 : i] * (*more)[more->size() == 1 ? 0 : i];
    scales = std::move(both);
  }
  if (!a_scale.valid()) return unsupported("the scale of %{} is not among the factors", edit.value(a).name);
  if (!edit.has_data(b) || (b_zero.valid() && !edit.has_data(b_zero)))
    return unsupported("%{} is no constant", edit.value(b).name);
  const std::string name = edit.value(b).name;
  const auto count = static_cast<int64_t>(scales.size());
  std::vector<double> zeros = b_zero.valid() ? *edit.numbers(b_zero) : std::vector<double>{0};
  std::vector<int64_t> sizes;
  if (count > 1 || zeros.size() > 1) {  // one of both for each column
    const size_t columns = std::max(scales.size(), zeros.size());
    if (scales.size() == 1) scales.resize(columns, scales[0]);
    if (zeros.size() == 1) zeros.resize(columns, zeros[0]);
    if (scales.size() != zeros.size()) return unsupported("%{} has {} zero points", name, zeros.size());
    sizes = {static_cast<int64_t>(columns)};
  }
  const ValueId scale = edit.constant(name + ".scale", DType::f32, sizes, scales);
  const ValueId zero = edit.constant(name + ".zero", edit.type(b).dtype, sizes, zeros);
  NEREID_TRY(const ValueId left, real(edit, id, a, a_scale, a_zero, 1));
  NEREID_TRY(const ValueId right, real(edit, id, b, scale, zero, conv ? 0 : -1));
  if (!conv) return edit.insert(id, "matmul", {left, right});
  return edit.insert(id, "conv", {left, right, ValueId{}}, integer.attrs);
}

// Q to i8 that only dequantising nodes read: the same numbers as u8.
Result<ValueId> unsigned_codes(Edit& edit, NodeId id) {
  const Node node = edit.graph().node(id);
  const auto codes = quantised(edit, node);
  const auto grid = codes ? grid_of(edit, *codes) : std::nullopt;
  const ValueId out = node.outputs[0];
  if (!grid || grid->dtype != DType::i8 || edit.graph().is_output(out)) return ValueId{};
  const std::vector<NodeId> readers = edit.graph().users(out);
  if (readers.empty()) return ValueId{};
  for (NodeId r : readers) {
    const Node& reader = edit.graph().node(r);
    if (reader.op->name != "dequantize_linear" || reader.inputs[0] != out) return ValueId{};
    const auto back = dequantised(edit, reader.outputs[0]);
    const auto back_grid = back ? grid_of(edit, *back) : std::nullopt;
    if (!back_grid) return ValueId{};
  }
  const std::string name = edit.value(out).name;
  const ValueId zero = zero_constant(edit, name + ".zero", DType::u8, grid->zero + 128);
  NEREID_TRY(const ValueId y,
             edit.insert(id, "quantize_linear", {node.inputs[0], node.inputs[1], zero}, {}, name + ".unsigned"));
  for (NodeId r : readers) {
    const Node reader = edit.graph().node(r);
    const auto back = grid_of(edit, *dequantised(edit, reader.outputs[0]));
    const ValueId own =
        back->zero == grid->zero ? zero : zero_constant(edit, name + ".zero", DType::u8, back->zero + 128);
    NEREID_TRY(const ValueId x, edit.insert(r, "dequantize_linear", {y, reader.inputs[1], own}));
    NEREID_RETURN_IF_ERROR(edit.replace(reader.outputs[0], x));
  }
  return y;
}

}  // namespace

Status expand_quantized(graph::Graph& g, PassContext& context) {
  Edit edit(g, context);
  const std::vector<NodeId> order = g.order();
  for (NodeId id : order) {
    if (g.node(id).op == nullptr || g.node(id).outputs.empty()) continue;
    const std::string_view op = g.node(id).op->name;
    Result<ValueId> now = ValueId{};
    if (op == "qlinear_conv") now = from_qlinear_conv(edit, id);
    if (op == "qlinear_matmul") now = from_qlinear_matmul(edit, id);
    if (op == "mul") now = from_scaled_sum(edit, id);
    if (now.is_ok() && !now->valid()) continue;
    std::string where = edit.where(id);
    const Status done = now.is_ok() ? edit.replace(g.node(id).outputs[0], *now) : now.status();
    edit.record(std::move(where), done, op == "mul" ? "of real numbers" : "between dequantising and quantising");
  }
  const std::vector<NodeId> again = g.order();
  for (NodeId id : again) {
    if (g.node(id).op == nullptr || g.node(id).op->name != "quantize_linear") continue;
    std::string where = edit.where(id);
    const auto now = unsigned_codes(edit, id);
    if (now.is_ok() && !now->valid()) continue;
    edit.record(std::move(where), now.status(), "u8");
  }
  return Status::ok();
}

}  // namespace nereid::passes
