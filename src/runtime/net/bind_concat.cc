// SPDX-License-Identifier: Apache-2.0
// Joining tensors: rows copied side by side.
#include <cstring>

#include "ops/shape_rule.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

class ConcatStep final : public NetStep {
 public:
  struct Part {
    const std::byte* data = nullptr;  // null: it lies where it belongs
    int64_t bytes = 0;                // of one outer row
  };
  void run(Worker& worker) override {
    if (outer >= worker.count()) {
      const auto [begin, end] = worker.slice(outer);
      for (int64_t o = begin; o < end; ++o) {
        std::byte* to = dst + o * row_bytes;
        for (const Part& p : parts) {
          if (p.data != nullptr) std::memcpy(to, p.data + o * p.bytes, static_cast<size_t>(p.bytes));
          to += p.bytes;
        }
      }
      return;
    }
    for (int64_t o = 0; o < outer; ++o) {
      std::byte* to = dst + o * row_bytes;
      for (const Part& p : parts) {
        const auto [begin, end] = worker.slice(p.bytes);
        if (p.data != nullptr) std::memcpy(to + begin, p.data + o * p.bytes + begin, static_cast<size_t>(end - begin));
        to += p.bytes;
      }
    }
  }
  std::vector<Part> parts;
  std::byte* dst = nullptr;
  int64_t outer = 1, row_bytes = 0;
};

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_concat(NetBinder& binder, const graph::Node& node) {
  const DType dtype = binder.dtype(node.outputs[0]);
  if (dtype_info(dtype).block_elements != 1 || dtype == DType::string)
    return unsupported("elements of type {} cannot be copied as bytes", dtype_name(dtype));
  const int64_t axis = node.attrs.integer("axis"), size = dtype_info(dtype).block_bytes;
  const ops::AxisSteps whole = ops::axis_steps(binder.sizes(node.outputs[0]), axis);
  auto step = std::make_unique<ConcatStep>();
  step->outer = whole.outer;
  step->row_bytes = whole.size * whole.inner * size;
  step->parts.resize(node.inputs.size());
  bool copies = false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) return unsupported("a part is missing");
    step->parts[i].bytes = ops::axis_steps(binder.sizes(node.inputs[i]), axis).size * whole.inner * size;
    if (binder.lies_inside(node.inputs[i])) continue;
    binder.point(node.inputs[i], &step->parts[i].data);
    copies = true;
  }
  binder.point(node.outputs[0], &step->dst);
  if (!copies) step->outer = 0;
  step->kernel = copies ? "copy" : "in place";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
