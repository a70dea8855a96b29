// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/reference_step.h"

namespace nereid::runtime {
namespace {

class NetReferenceStep final : public NetStep {
 public:
  NetReferenceStep(const graph::Node& node, Status& error)
      : op_(node.op), attrs_(node.attrs), error_(error), inputs(node.inputs.size()), outputs(node.outputs.size()) {}

  void run(Worker& worker) override {
    if (worker.index() != 0 || !error_.is_ok()) return;
    const Status s = op_->evaluate({.inputs = inputs, .outputs = outputs, .states = {}, .attrs = attrs_});
    if (!s.is_ok()) error_ = s.with(label);
  }

 private:
  const ops::OpDef* op_;
  ops::Attrs attrs_;
  Status& error_;

 public:
  std::vector<ConstTensorView> inputs;
  std::vector<TensorView> outputs;
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
    binder.point(node.outputs[i], &step->outputs[i].data);
  }
  step->kernel = "reference";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
