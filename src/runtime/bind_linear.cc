// SPDX-License-Identifier: Apache-2.0
// linear and gated_linear on packed weights.
#include "runtime/bind_rows.h"

namespace nereid::runtime {
namespace {

using kernels::LinearParams;

class LinearStep final : public Step {
 public:
  LinearStep(void (*kernel)(const LinearParams&, Worker&), LinearParams params, Count tokens)
      : kernel_(kernel), params_(params), tokens_(tokens) {}
  void resize(const Sizes& sizes) override { params_.tokens = sizes.of(tokens_); }
  void run(Worker& worker) override { kernel_(params_, worker); }
  std::byte** scratch() { return &params_.scratch; }

 private:
  void (*kernel_)(const LinearParams&, Worker&);
  LinearParams params_;
  Count tokens_;
};

Result<kernels::PackedWeight> packed(BindContext& c, graph::ValueId id) {
  const Weight* w = c.program().weight(id);
  if (!w || !w->is_packed) return unsupported("weight '{}' is not packed", c.value(id).name);
  return w->packed;
}

// A vector of f32 constants of `n` elements, null if the argument is absent.
Result<const float*> vector(BindContext& c, graph::ValueId id, int64_t n) {
  if (!id.valid()) return static_cast<const float*>(nullptr);
  const float* p = c.program().f32_constant(id);
  if (!p) return unsupported("'{}' is no f32 constant", c.value(id).name);
  if (c.value(id).type.shape.elements() != n)
    return unsupported("'{}' has another size than the matrix", c.value(id).name);
  return p;
}

Result<std::unique_ptr<Step>> finish(BindContext& c, LinearParams p, const Slot& x, const Slot& y) {
  if (x.dtype != DType::f32 || y.dtype != DType::f32) return unsupported("activations are not f32");
  if (x.cols != p.weight.layout.cols || y.cols != p.weight.layout.rows)
    return unsupported("the packed weight is {} x {}, the activations want {} x {}", p.weight.layout.rows,
                       p.weight.layout.cols, y.cols, x.cols);
  p.x = x.f32();
  p.x_stride = x.stride;
  p.y = y.f32();
  p.y_stride = y.stride;
  auto step = std::make_unique<LinearStep>(c.program().kernels().linear, p, x.rows);
  c.want_scratch(kernels::linear_scratch_bytes(c.bound(x.rows), x.cols, c.workers()), step->scratch());
  return std::unique_ptr<Step>(std::move(step));
}

}  // namespace

Result<std::unique_ptr<Step>> bind_linear(BindContext& c, const graph::Node& node) {
  LinearParams p;
  NEREID_TRY(p.weight, packed(c, node.inputs[1]));
  NEREID_TRY(p.bias, vector(c, node.inputs[2], p.weight.layout.rows));
  NEREID_TRY(p.norm_weight, vector(c, node.inputs[4], p.weight.layout.cols));
  p.norm_eps = static_cast<float>(node.attrs.real("norm_eps"));
  if (node.inputs[3].valid()) {
    const Slot& residual = c.slot(node.inputs[3]);
    p.residual = residual.f32();
    p.residual_stride = residual.stride;
  }
  return finish(c, p, c.slot(node.inputs[0]), c.slot(node.outputs[0]));
}

Result<std::unique_ptr<Step>> bind_gated_linear(BindContext& c, const graph::Node& node) {
  LinearParams p;
  NEREID_TRY(p.weight, packed(c, node.inputs[1]));
  NEREID_TRY(p.weight_up, packed(c, node.inputs[2]));
  if (!(p.weight.layout == p.weight_up.layout)) return unsupported("gate and up are packed in different formats");
  NEREID_TRY(p.norm_weight, vector(c, node.inputs[3], p.weight.layout.cols));
  p.norm_eps = static_cast<float>(node.attrs.real("norm_eps"));
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  return finish(c, p, c.slot(node.inputs[0]), c.slot(node.outputs[0]));
}

}  // namespace nereid::runtime
