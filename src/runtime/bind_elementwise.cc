// SPDX-License-Identifier: Apache-2.0
// Embedding, norms and elementwise ops.
#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

template <typename Params>
Result<std::unique_ptr<Step>> make_step(void (*kernel)(const Params&, Worker&), Params params, int64_t Params::*rows,
                                        Count count) {
  return std::unique_ptr<Step>(std::make_unique<KernelStep<Params>>(kernel, params, rows, count));
}

bool is_f32(const Slot& slot) {
  return slot.dtype == DType::f32;
}

// scale and softcap are one kernel; `p` holds what tells them apart.
Result<std::unique_ptr<Step>> make_scale_step(BindContext& c, const graph::Node& node, kernels::ScaleParams p) {
  const Slot &x = c.slot(node.inputs[0]), &y = c.slot(node.outputs[0]);
  if (!is_f32(x)) return unsupported("x is not f32");
  p.x = x.f32();
  p.x_stride = x.stride;
  p.cols = x.cols;
  p.y = y.f32();
  p.y_stride = y.stride;
  return make_step(c.program().kernels().scale, p, &kernels::ScaleParams::tokens, x.rows);
}

}  // namespace

Result<kernels::Activation> activation_of(std::string_view name) {
  if (name == "silu") return kernels::Activation::kSilu;
  if (name == "gelu") return kernels::Activation::kGelu;
  if (name == "gelu_tanh") return kernels::Activation::kGeluTanh;
  if (name == "relu") return kernels::Activation::kRelu;
  return unsupported("there is no kernel for the activation '{}'", name);
}

Result<std::unique_ptr<Step>> bind_embedding(BindContext& c, const graph::Node& node) {
  const Weight* table = c.program().weight(node.inputs[1]);
  if (!table || !table->is_packed) return unsupported("the table is not packed");
  const Slot &ids = c.slot(node.inputs[0]), &y = c.slot(node.outputs[0]);
  if (y.dtype != DType::f32) return unsupported("the result is not f32");
  if (ids.dtype != DType::i32) return unsupported("ids are {}, not i32", dtype_name(ids.dtype));
  return make_step(
      c.program().kernels().embedding,
      kernels::EmbeddingParams{.ids = ids.i32(), .weight = table->packed, .y = y.f32(), .y_stride = y.stride},
      &kernels::EmbeddingParams::tokens, y.rows);
}

Result<std::unique_ptr<Step>> bind_rms_norm(BindContext& c, const graph::Node& node) {
  const Slot &x = c.slot(node.inputs[0]), &y = c.slot(node.outputs[0]);
  if (!is_f32(x)) return unsupported("x is not f32");
  kernels::RmsNormParams p{.x = x.f32(), .x_stride = x.stride, .cols = x.cols, .y = y.f32(), .y_stride = y.stride};
  const Shape& shape = c.value(node.inputs[0]).type.shape;
  if (shape.rank() < 2 || !shape.dims().back().is_static()) return unsupported("x has no rows of a known length");
  const int64_t group = node.attrs.integer("group");
  p.group = group ? group : x.cols;
  p.eps = static_cast<float>(node.attrs.real("eps"));
  if (node.inputs[1].valid()) {
    p.weight = c.program().f32_constant(node.inputs[1]);
    if (!p.weight) return unsupported("the weight is no f32 constant");
  }
  if (node.inputs[2].valid()) {
    p.residual = c.slot(node.inputs[2]).f32();
    p.residual_stride = c.slot(node.inputs[2]).stride;
  }
  return make_step(c.program().kernels().rms_norm, p, &kernels::RmsNormParams::tokens, x.rows);
}

Result<std::unique_ptr<Step>> bind_layer_norm(BindContext& c, const graph::Node& node) {
  const Slot &x = c.slot(node.inputs[0]), &y = c.slot(node.outputs[0]);
  if (!is_f32(x)) return unsupported("x is not f32");
  if (c.value(node.inputs[0]).type.shape.rank() != 2) return unsupported("x is no matrix");
  kernels::LayerNormParams p;
  p.x = x.f32();
  p.x_stride = x.stride;
  p.cols = x.cols;
  p.y = y.f32();
  p.y_stride = y.stride;
  p.eps = static_cast<float>(node.attrs.real("eps"));
  p.weight = c.program().f32_constant(node.inputs[1]);
  if (p.weight == nullptr) return unsupported("the weight is no f32 constant");
  if (node.inputs[2].valid()) {
    p.bias = c.program().f32_constant(node.inputs[2]);
    if (p.bias == nullptr) return unsupported("the bias is no f32 constant");
  }
  return make_step(c.program().kernels().layer_norm, p, &kernels::LayerNormParams::rows, x.rows);
}

Result<std::unique_ptr<Step>> bind_gated(BindContext& c, const graph::Node& node) {
  const Slot &gate = c.slot(node.inputs[0]), &up = c.slot(node.inputs[1]), &y = c.slot(node.outputs[0]);
  if (!is_f32(gate) || !is_f32(up)) return unsupported("the operands are not f32");
  kernels::GatedParams p{.gate = gate.f32(),
                         .gate_stride = gate.stride,
                         .up = up.f32(),
                         .up_stride = up.stride,
                         .cols = y.cols,
                         .y = y.f32(),
                         .y_stride = y.stride};
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  return make_step(c.program().kernels().gated, p, &kernels::GatedParams::tokens, y.rows);
}

Result<std::unique_ptr<Step>> bind_add(BindContext& c, const graph::Node& node) {
  for (graph::ValueId id : node.inputs)
    if (c.value(id).type != c.value(node.outputs[0]).type) return unsupported("the operands have different shapes");
  const Slot &a = c.slot(node.inputs[0]), &b = c.slot(node.inputs[1]), &y = c.slot(node.outputs[0]);
  if (!is_f32(a)) return unsupported("the operands are not f32");
  return make_step(c.program().kernels().add,
                   kernels::AddParams{.a = a.f32(),
                                      .a_stride = a.stride,
                                      .b = b.f32(),
                                      .b_stride = b.stride,
                                      .cols = y.cols,
                                      .y = y.f32(),
                                      .y_stride = y.stride},
                   &kernels::AddParams::tokens, y.rows);
}

Result<std::unique_ptr<Step>> bind_scale(BindContext& c, const graph::Node& node) {
  return make_scale_step(c, node, {.factor = static_cast<float>(node.attrs.real("factor"))});
}

Result<std::unique_ptr<Step>> bind_softcap(BindContext& c, const graph::Node& node) {
  return make_scale_step(c, node, {.cap = static_cast<float>(node.attrs.real("cap"))});
}

Result<std::unique_ptr<Step>> bind_select_rows(BindContext& c, const graph::Node& node) {
  const Slot &x = c.slot(node.inputs[0]), &rows = c.slot(node.inputs[1]), &y = c.slot(node.outputs[0]);
  if (!is_f32(x) || rows.dtype != DType::i32) return unsupported("x is not f32 or the rows are not i32");
  return make_step(
      c.program().kernels().select_rows,
      kernels::SelectRowsParams{
          .x = x.f32(), .x_stride = x.stride, .rows = rows.i32(), .cols = x.cols, .y = y.f32(), .y_stride = y.stride},
      &kernels::SelectRowsParams::count, y.rows);
}

}  // namespace nereid::runtime
