// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/reference_step.h"

#include <cstring>
#include <deque>

namespace nereid::runtime {
namespace {

class NetReferenceStep final : public NetStep {
 public:
  NetReferenceStep(const graph::Node& node, Status& error)
      : op_(node.op), attrs_(node.attrs), error_(error), inputs(node.inputs.size()), outputs(node.outputs.size()) {}

  void run(Worker& worker) override {
    if (worker.index() != 0 || !error_.is_ok()) return;
    for (const Gapped& g : gapped) outputs[g.output].data = g.dense;
    const Status s = op_->evaluate({.inputs = inputs, .outputs = outputs, .states = {}, .attrs = attrs_});
    if (!s.is_ok()) error_ = s.with(label);
    for (const Gapped& g : gapped)
      for (int64_t row = 0; row < g.rows; ++row)
        std::memcpy(g.place + row * g.step, g.dense + row * g.bytes, static_cast<size_t>(g.bytes));
  }

 private:
  const ops::OpDef* op_;
  ops::Attrs attrs_;
  Status& error_;

 public:
  std::vector<ConstTensorView> inputs;
  std::vector<TensorView> outputs;
  // A result that lies inside another one: made elsewhere, then copied row by row.
  struct Gapped {
    size_t output = 0;
    std::byte *dense = nullptr, *place = nullptr;
    int64_t rows = 0, bytes = 0, step = 0;
  };
  std::deque<Gapped> gapped;
};

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_reference(NetBinder& binder, const graph::Node& node) {
  auto step = std::make_unique<NetReferenceStep>(node, binder.error());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    step->inputs[i] = {nullptr, binder.dtype(node.inputs[i]), binder.sizes(node.inputs[i])};
    binder.point(node.inputs[i], &step->inputs[i].data);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    step->outputs[i] = {nullptr, binder.dtype(node.outputs[i]), binder.sizes(node.outputs[i])};
    const std::vector<int64_t> ys = binder.sizes(node.outputs[i]);
    if (const int64_t stride = ys.empty() ? 1 : binder.row_stride(node.outputs[i]);
        !ys.empty() && stride != ys.back()) {
      const int64_t element = dtype_info(binder.dtype(node.outputs[i])).block_bytes;
      NetReferenceStep::Gapped& g = step->gapped.emplace_back();
      g = {.output = i,
           .rows = *binder.type(node.outputs[i]).shape.elements() / ys.back(),
           .bytes = ys.back() * element,
           .step = stride * element};
      binder.want_scratch(g.rows * g.bytes, &g.dense);
      binder.point(node.outputs[i], &g.place);
      continue;
    }
    binder.point(node.outputs[i], &step->outputs[i].data);
  }
  step->kernel = "reference";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
