// SPDX-License-Identifier: Apache-2.0
// One row an op that has device kernels, in alphabetical order.
#include <array>

#include "runtime/device/device_step.h"

namespace nereid::runtime {
namespace {

namespace gpu = kernels::cuda;
using graph::Node;

Result<gpu::Activation> activation_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, gpu::Activation>, 5> kNames = {
      {{"none", gpu::Activation::kNone},
       {"silu", gpu::Activation::kSilu},
       {"gelu", gpu::Activation::kGelu},
       {"gelu_tanh", gpu::Activation::kGeluTanh},
       {"relu", gpu::Activation::kRelu}}};
  for (const auto& [known, activation] : kNames)
    if (known == name) return activation;
  return unsupported("there is no GPU kernel for the activation '{}'", name);
}

// x, or x through its norm in scratch.
struct Normed {
  const void* data = nullptr;
  int64_t stride = 0;
};
Result<Normed> normed(DeviceBinder& b, const Node& node, graph::ValueId weight, const std::string& label) {
  const DeviceSlot& x = b.slot(node.inputs[0]);
  if (!weight.valid()) return Normed{x.data, x.stride};
  NEREID_TRY(const float* w, b.weights().vector(weight));
  NEREID_TRY(std::byte * scratch, b.scratch(b.bound(x.rows) * x.cols * 2));
  gpu::RmsNormParams p{.element = b.element(), .x = x.data, .x_stride = x.stride, .cols = x.cols};
  p.weight = w;
  p.eps = static_cast<float>(node.attrs.real("norm_eps"));
  p.y = scratch;
  p.y_stride = x.cols;
  b.add("norm of " + label,
        [p, rows = x.rows, fn = b.kernels().rms_norm](const RunShape& s, const gpu::Queue& q) mutable {
          p.tokens = s.sizes.of(rows);
          fn(p, q);
        });
  return Normed{scratch, x.cols};
}

std::string label_of(DeviceBinder& b, const Node& node) {
  return fmt::format("{} %{}", node.op->name, b.graph().value(node.outputs[0]).name);
}

Status finish_linear(DeviceBinder& b, const Node& node, gpu::LinearParams p, const Normed& x) {
  const DeviceSlot& y = b.slot(node.outputs[0]);
  p.element = b.element();
  p.x = x.data;
  p.x_stride = x.stride;
  p.y_element = y.element;
  p.y = y.data;
  p.y_stride = y.stride;
  b.want_linear(p.weight, p.weight_up.data != nullptr);
  b.add(label_of(b, node), [p, rows = y.rows, fn = b.kernels().linear](const RunShape& s, const gpu::Queue& q) mutable {
    p.tokens = s.sizes.of(rows);
    p.workspace = s.linear_workspace;
    fn(p, q);
  });
  return Status::ok();
}

Status bind_linear(DeviceBinder& b, const Node& node) {
  gpu::LinearParams p;
  // What makes the logits stays as it is.
  const bool is_last = b.slot(node.outputs[0]).element == gpu::Element::kF32;
  NEREID_TRY(p.weight, is_last ? b.weights().matrix(node.inputs[1], b.element())
                               : b.weights().layer_matrix(node.inputs[1], b.element()));
  NEREID_TRY(p.bias, b.weights().vector(node.inputs[2]));
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  if (node.inputs[3].valid()) {
    const DeviceSlot& residual = b.slot(node.inputs[3]);
    if (residual.element != b.element()) return unsupported("a residual of another type than the activations");
    p.residual = residual.data;
    p.residual_stride = residual.stride;
  }
  NEREID_TRY(const Normed x, normed(b, node, node.inputs[4], label_of(b, node)));
  return finish_linear(b, node, p, x);
}

Status bind_gated_linear(DeviceBinder& b, const Node& node) {
  gpu::LinearParams p;
  NEREID_TRY(p.weight, b.weights().layer_matrix(node.inputs[1], b.element()));
  NEREID_TRY(p.weight_up, b.weights().layer_matrix(node.inputs[2], b.element()));
  if (p.weight.codes != p.weight_up.codes || p.weight.group != p.weight_up.group ||
      p.weight.has_offset != p.weight_up.has_offset || p.weight.zero != p.weight_up.zero)
    return unsupported("gate and up are packed in different formats");
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  NEREID_TRY(const Normed x, normed(b, node, node.inputs[3], label_of(b, node)));
  return finish_linear(b, node, p, x);
}

Status bind_embedding(DeviceBinder& b, const Node& node) {
  const DeviceSlot &ids = b.slot(node.inputs[0]), &y = b.slot(node.outputs[0]);
  gpu::EmbeddingParams p{.element = y.element, .ids = ids.i32()};
  NEREID_TRY(p.weight, b.weights().matrix(node.inputs[1], b.element()));
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node),
        [p, rows = y.rows, fn = b.kernels().embedding](const RunShape& s, const gpu::Queue& q) mutable {
          p.tokens = s.sizes.of(rows);
          fn(p, q);
        });
  return Status::ok();
}

Status bind_rms_norm(DeviceBinder& b, const Node& node) {
  const DeviceSlot &x = b.slot(node.inputs[0]), &y = b.slot(node.outputs[0]);
  gpu::RmsNormParams p{.element = b.element(), .x = x.data, .x_stride = x.stride};
  const int64_t group = node.attrs.integer("group") ? node.attrs.integer("group") : x.cols;
  if (group % 8 != 0) return unsupported("groups of {} elements are not a multiple of 8", group);
  p.cols = group;
  p.eps = static_cast<float>(node.attrs.real("eps"));
  NEREID_TRY(p.weight, b.weights().vector(node.inputs[1]));
  if (node.inputs[2].valid()) {
    p.after = b.slot(node.inputs[2]).data;
    p.after_stride = b.slot(node.inputs[2]).stride;
  }
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node), [p, rows = x.rows, groups = x.cols / group, fn = b.kernels().rms_norm](
                               const RunShape& s, const gpu::Queue& q) mutable {
    p.tokens = s.sizes.of(rows);
    for (int64_t g = 0; g < groups; ++g) {
      gpu::RmsNormParams part = p;
      const int64_t at = g * p.cols * 2;
      part.x = static_cast<const std::byte*>(p.x) + at;
      part.y = static_cast<std::byte*>(p.y) + at;
      if (p.after != nullptr) part.after = static_cast<const std::byte*>(p.after) + at;
      fn(part, q);
    }
  });
  return Status::ok();
}

Status bind_layer_norm(DeviceBinder& b, const Node& node) {
  const DeviceSlot &x = b.slot(node.inputs[0]), &y = b.slot(node.outputs[0]);
  gpu::LayerNormParams p{.element = b.element(), .x = x.data, .x_stride = x.stride, .cols = x.cols};
  NEREID_TRY(p.weight, b.weights().vector(node.inputs[1]));
  NEREID_TRY(p.bias, b.weights().vector(node.inputs[2]));
  p.eps = static_cast<float>(node.attrs.real("eps"));
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node),
        [p, rows = x.rows, fn = b.kernels().layer_norm](const RunShape& s, const gpu::Queue& q) mutable {
          p.tokens = s.sizes.of(rows);
          fn(p, q);
        });
  return Status::ok();
}

Status bind_gated(DeviceBinder& b, const Node& node) {
  const DeviceSlot &gate = b.slot(node.inputs[0]), &up = b.slot(node.inputs[1]), &y = b.slot(node.outputs[0]);
  gpu::GatedParams p{.element = b.element(), .gate = gate.data, .gate_stride = gate.stride};
  p.up = up.data;
  p.up_stride = up.stride;
  p.cols = y.cols;
  NEREID_TRY(p.activation, activation_of(node.attrs.text("activation")));
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node), [p, rows = y.rows, fn = b.kernels().gated](const RunShape& s, const gpu::Queue& q) mutable {
    p.tokens = s.sizes.of(rows);
    fn(p, q);
  });
  return Status::ok();
}

// add, scale and softcap are one kernel; `p` holds what tells them apart.
Status finish_scale_add(DeviceBinder& b, const Node& node, gpu::ScaleAddParams p) {
  const DeviceSlot &x = b.slot(node.inputs[0]), &y = b.slot(node.outputs[0]);
  p.x_element = x.element;
  p.y_element = y.element;
  p.x = x.data;
  p.x_stride = x.stride;
  p.cols = y.cols;
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node),
        [p, rows = y.rows, fn = b.kernels().scale_add](const RunShape& s, const gpu::Queue& q) mutable {
          p.tokens = s.sizes.of(rows);
          fn(p, q);
        });
  return Status::ok();
}

Status bind_add(DeviceBinder& b, const Node& node) {
  if (b.graph().value(node.inputs[0]).type != b.graph().value(node.inputs[1]).type)
    return unsupported("the operands have different shapes");
  const DeviceSlot& other = b.slot(node.inputs[1]);
  if (other.element != b.slot(node.inputs[0]).element) return unsupported("the operands have different types");
  gpu::ScaleAddParams p;
  p.b = other.data;
  p.b_stride = other.stride;
  return finish_scale_add(b, node, p);
}

Status bind_scale(DeviceBinder& b, const Node& node) {
  gpu::ScaleAddParams p;
  p.factor = static_cast<float>(node.attrs.real("factor"));
  return finish_scale_add(b, node, p);
}

Status bind_softcap(DeviceBinder& b, const Node& node) {
  gpu::ScaleAddParams p;
  p.cap = static_cast<float>(node.attrs.real("cap"));
  return finish_scale_add(b, node, p);
}

Status bind_select_rows(DeviceBinder& b, const Node& node) {
  const DeviceSlot &x = b.slot(node.inputs[0]), &rows = b.slot(node.inputs[1]), &y = b.slot(node.outputs[0]);
  gpu::SelectRowsParams p{.element = x.element, .x = x.data, .x_stride = x.stride, .rows = rows.i32(), .cols = x.cols};
  p.y = y.data;
  p.y_stride = y.stride;
  b.add(label_of(b, node),
        [p, count = y.rows, fn = b.kernels().select_rows](const RunShape& s, const gpu::Queue& q) mutable {
          p.count = s.sizes.of(count);
          fn(p, q);
        });
  return Status::ok();
}

}  // namespace

Status bind_device_attention(DeviceBinder& b, const Node& node);
Status bind_device_rope(DeviceBinder& b, const Node& node);

Status bind_device_node(DeviceBinder& b, const Node& node) {
  struct Row {
    std::string_view op;
    Status (*bind)(DeviceBinder&, const Node&);
  };
  static constexpr std::array kTable = {
      Row{"add", bind_add},       Row{"attention", bind_device_attention}, Row{"embedding", bind_embedding},
      Row{"gated", bind_gated},   Row{"gated_linear", bind_gated_linear},  Row{"layer_norm", bind_layer_norm},
      Row{"linear", bind_linear}, Row{"rms_norm", bind_rms_norm},          Row{"rope", bind_device_rope},
      Row{"scale", bind_scale},   Row{"select_rows", bind_select_rows},    Row{"softcap", bind_softcap},
  };
  for (const Row& row : kTable)
    if (row.op == node.op->name) return row.bind(b, node);
  return unsupported("there is no GPU kernel for {}", node.op->name);
}

}  // namespace nereid::runtime
