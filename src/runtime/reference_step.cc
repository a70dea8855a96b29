// SPDX-License-Identifier: Apache-2.0
// The last resort: an op's reference evaluator as a step. Packed weights are unpacked to f32 once, when it is bound.
#include <cstring>

#include "runtime/bind.h"

namespace nereid::runtime {
namespace {

class ReferenceStep final : public Step {
 public:
  struct Argument {
    Slot slot;
    bool present = false;
    bool state = false;
    std::vector<float> unpacked;  // of a packed weight
    ConstTensorView constant;     // data != null: not a slot
  };

  ReferenceStep(const graph::Node& node, std::vector<Argument> inputs, std::vector<Slot> outputs)
      : op_(node.op), attrs_(node.attrs), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  void resize(const Sizes& sizes) override { sizes_ = sizes; }

  void run(Worker& worker) override {
    if (worker.index() != 0) return;
    std::vector<ConstTensorView> in;
    std::vector<TensorView> states(inputs_.size());
    std::vector<TensorView*> state_pointers(inputs_.size());
    std::vector<std::vector<std::byte>> dense;  // rows without the slots' strides
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Argument& a = inputs_[i];
      if (!a.present) {
        in.emplace_back();
      } else if (a.constant.data) {
        in.push_back(a.constant);
      } else {
        const TensorView view{a.slot.data, a.slot.dtype, dims(a.slot)};
        if (a.state) {
          states[i] = view;
          state_pointers[i] = &states[i];
          in.push_back(view);
        } else {
          dense.push_back(gather(a.slot, view));
          in.emplace_back(dense.back().data(), view.dtype, view.sizes);
        }
      }
    }
    std::vector<TensorView> out;
    std::vector<std::vector<std::byte>> results;
    for (const Slot& slot : outputs_) {
      TensorView view{nullptr, slot.dtype, dims(slot)};
      results.emplace_back(static_cast<size_t>(view.bytes()));
      view.data = results.back().data();
      out.push_back(view);
    }
    // Shapes were checked when the graph was built; an evaluator has nothing left to refuse.
    const Status s = op_->evaluate({in, out, state_pointers, attrs_});
    NEREID_CHECK(s.is_ok());
    for (size_t i = 0; i < outputs_.size(); ++i) scatter(outputs_[i], out[i]);
  }

 private:
  std::vector<int64_t> dims(const Slot& slot) const {
    std::vector<int64_t> d;
    for (Count c : slot.dims) d.push_back(sizes_.of(c));
    return d;
  }
  static int64_t element_bytes(const Slot& slot) { return dtype_info(slot.dtype).block_bytes; }
  // Copies rows between a slot and a dense tensor. A row is as long as this run's sizes say, which may be less than the
  // slot has room for; vectors have one element a row.
  static int64_t row_bytes(const Slot& slot, const TensorView& view) {
    return (view.rank() < 2 ? 1 : view.row_elements()) * element_bytes(slot);
  }
  static std::vector<std::byte> gather(const Slot& slot, const TensorView& view) {
    std::vector<std::byte> out(static_cast<size_t>(view.bytes()));
    const int64_t row = row_bytes(slot, view);
    for (int64_t r = 0; r * row < view.bytes(); ++r)
      std::memcpy(out.data() + r * row, slot.data + r * slot.stride * element_bytes(slot), static_cast<size_t>(row));
    return out;
  }
  static void scatter(const Slot& slot, const TensorView& view) {
    const int64_t row = row_bytes(slot, view);
    for (int64_t r = 0; r * row < view.bytes(); ++r)
      std::memcpy(slot.data + r * slot.stride * element_bytes(slot), view.as<std::byte>() + r * row,
                  static_cast<size_t>(row));
  }

  const ops::OpDef* op_;
  ops::Attrs attrs_;
  std::vector<Argument> inputs_;
  std::vector<Slot> outputs_;
  Sizes sizes_;
};

}  // namespace

Result<std::unique_ptr<Step>> bind_reference(BindContext& c, const graph::Node& node) {
  if (node.op->evaluate == nullptr)
    return invalid_argument("{} has no results of sizes that are known before it runs, and cannot be a step",
                            node.op->name);
  std::vector<ReferenceStep::Argument> inputs(node.inputs.size());
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const graph::ValueId id = node.inputs[i];
    ReferenceStep::Argument& a = inputs[i];
    a.present = id.valid();
    if (!a.present) continue;
    const graph::Value& value = c.value(id);
    if (value.kind != graph::Value::Kind::kConstant) {
      a.slot = c.slot(id);
      a.state = value.kind == graph::Value::Kind::kState;
      continue;
    }
    const std::vector<int64_t> sizes = value.type.shape.sizes();
    const Weight* w = c.program().weight(id);
    if (w && w->is_packed) {
      const int64_t cols = w->packed.layout.cols;
      a.unpacked.resize(static_cast<size_t>(w->packed.layout.rows * cols));
      for (int64_t r = 0; r < w->packed.layout.rows; ++r)
        kernels::unpack_row(w->packed, r, a.unpacked.data() + r * cols);
      a.constant = {a.unpacked.data(), DType::f32, sizes};
    } else if (w) {
      a.constant = {w->data, value.type.dtype, sizes};
    } else if (value.data.parts.size() == 1) {
      a.constant = value.data.parts[0];
    } else {
      return internal("constant '{}' has no data", value.name);
    }
  }
  std::vector<Slot> outputs;
  for (graph::ValueId id : node.outputs) outputs.push_back(c.slot(id));
  return std::unique_ptr<Step>(std::make_unique<ReferenceStep>(node, std::move(inputs), std::move(outputs)));
}

}  // namespace nereid::runtime
