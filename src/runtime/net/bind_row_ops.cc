// SPDX-License-Identifier: Apache-2.0
// Ops over the rows of the last dimensions: softmax, norms, reductions; and rows gathered by index.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "ops/elements.h"
#include "ops/shape_rule.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

// Product of the sizes from an axis on.
int64_t columns_from(const std::vector<int64_t>& sizes, size_t axis) {
  int64_t n = 1;
  for (size_t d = axis; d < sizes.size(); ++d) n *= sizes[d];
  return n;
}

class GatherRowsStep final : public NetStep {
 public:
  explicit GatherRowsStep(Status& error) : error_(error) { kernel = "gather"; }
  void run(Worker& worker) override {
    const auto [begin, end] = worker.slice(outer * count);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i % count;
      int64_t index = wide ? static_cast<const int64_t*>(indices)[at] : static_cast<const int32_t*>(indices)[at];
      if (index < 0) index += size;
      if (index < 0 || index >= size) {
        if (!refused_.exchange(true))
          error_ = invalid_argument("{}: the index {} is outside a dimension of {}", label, index, size);
        continue;
      }
      std::memcpy(dst + i * row_bytes, src + (i / count * size + index) * row_bytes, static_cast<size_t>(row_bytes));
    }
    worker.barrier();
    refused_.store(false, std::memory_order_relaxed);
  }
  const std::byte* src = nullptr;
  const void* indices = nullptr;
  std::byte* dst = nullptr;
  bool wide = true;
  int64_t outer = 1, size = 0, count = 0, row_bytes = 0;

 private:
  Status& error_;
  std::atomic<bool> refused_ = false;
};

// Sums, means or extremes of [outer, reduced, inner] over the middle.
class MiddleReduceStep final : public NetStep {
 public:
  using Kind = kernels::RowReduceParams::Kind;
  void run(Worker& worker) override {
    if (outer >= worker.count()) {
      const auto [begin, end] = worker.slice(outer);
      for (int64_t o = begin; o < end; ++o) reduce(o, 0, inner);
    } else {
      const auto [begin, end] = worker.slice(inner);
      for (int64_t o = 0; o < outer; ++o) reduce(o, begin, end);
    }
  }
  Kind kind = Kind::kSum;
  const float* x = nullptr;
  float* y = nullptr;
  int64_t outer = 1, reduced = 1, inner = 1;

 private:
  void reduce(int64_t o, int64_t begin, int64_t end) {
    const float* from = x + o * reduced * inner;
    float* to = y + o * inner;
    std::copy(from + begin, from + end, to + begin);
    for (int64_t r = 1; r < reduced; ++r) {
      const float* row = from + r * inner;
      switch (kind) {
        case Kind::kMax:
          for (int64_t i = begin; i < end; ++i) to[i] = row[i] > to[i] ? row[i] : to[i];
          break;
        case Kind::kMin:
          for (int64_t i = begin; i < end; ++i) to[i] = row[i] < to[i] ? row[i] : to[i];
          break;
        default:
          for (int64_t i = begin; i < end; ++i) to[i] += row[i];
      }
    }
    if (kind == Kind::kMean)
      for (int64_t i = begin; i < end; ++i) to[i] /= static_cast<float>(reduced);
  }
};

Result<std::unique_ptr<NetStep>> bind_middle(NetBinder& binder, const graph::Node& node, MiddleReduceStep::Kind kind,
                                             const std::vector<int64_t>& xs, const std::vector<bool>& reduced) {
  using Kind = MiddleReduceStep::Kind;
  if (kind == Kind::kSumSquares || kind == Kind::kL2)
    return unsupported("the reduced dimensions are not the last ones");
  size_t first = 0, last = xs.size();
  while (!reduced[first]) ++first;
  while (!reduced[last - 1]) --last;
  auto step = std::make_unique<MiddleReduceStep>();
  for (size_t d = 0; d < xs.size(); ++d) {
    if (d >= first && d < last && !reduced[d] && xs[d] != 1) return unsupported("the reduced dimensions are apart");
    (d < first ? step->outer : d < last ? step->reduced : step->inner) *= xs[d];
  }
  step->kind = kind;
  step->kernel = "middle_reduce";
  binder.point(node.inputs[0], &step->x);
  binder.point(node.outputs[0], &step->y);
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_softmax(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]);
  const int64_t axis = node.attrs.integer("axis");
  if (xs.empty() || *binder.type(node.inputs[0]).shape.elements() == 0)
    return unsupported("there is nothing to compute");
  const ops::AxisSteps steps = ops::axis_steps(xs, axis);
  if (steps.inner != 1) return unsupported("the axis is not the last dimension");
  auto step = std::make_unique<ParamStep<kernels::SoftmaxParams>>(binder.kernels().softmax);
  kernels::SoftmaxParams& p = step->params;
  p.rows = steps.outer;
  p.cols = p.x_stride = p.y_stride = steps.size;
  p.is_log = node.op->name == "log_softmax";
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = "softmax";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_layer_normalization(NetBinder& binder, const graph::Node& node) {
  NEREID_RETURN_IF_ERROR(binder.expect_f32(node.inputs));
  if (node.attrs.boolean("statistics")) return unsupported("its statistics are wanted");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]);
  int64_t axis = node.attrs.integer("axis");
  if (axis < 0) axis += static_cast<int64_t>(xs.size());
  const int64_t cols = columns_from(xs, static_cast<size_t>(axis));
  const int64_t elements = *binder.type(node.inputs[0]).shape.elements();
  if (elements == 0) return unsupported("there is nothing to compute");
  auto step = std::make_unique<ParamStep<kernels::LayerNormParams>>(binder.kernels().layer_norm);
  kernels::LayerNormParams& p = step->params;
  p.rows = elements / cols;
  p.cols = p.x_stride = p.y_stride = cols;
  p.eps = static_cast<float>(node.attrs.real("epsilon"));
  p.is_rms = node.op->name == "rms_normalization";
  const float** fields[] = {&p.weight, &p.bias};
  for (size_t i = 1; i < node.inputs.size() && i < 3; ++i) {
    if (!node.inputs[i].valid()) continue;
    const std::vector<int64_t> ws = binder.sizes(node.inputs[i]);
    if (columns_from(ws, 0) != cols) return unsupported("its scale is broadcast");
    binder.point(node.inputs[i], fields[i - 1]);
  }
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = p.is_rms ? "rms_norm" : "layer_norm";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_reduce(NetBinder& binder, const graph::Node& node) {
  using Kind = kernels::RowReduceParams::Kind;
  struct Row {
    std::string_view op;
    Kind kind;
  };
  static constexpr Row kKinds[] = {{"reduce_sum", Kind::kSum},
                                   {"reduce_mean", Kind::kMean},
                                   {"reduce_max", Kind::kMax},
                                   {"reduce_min", Kind::kMin},
                                   {"reduce_sum_square", Kind::kSumSquares},
                                   {"reduce_l2", Kind::kL2}};
  const auto row = std::ranges::find(kKinds, node.op->name, &Row::op);
  if (row == std::end(kKinds)) return unsupported("it is no reduction that has a kernel");
  if (binder.dtype(node.inputs[0]) != DType::f32) return unsupported("x is not f32");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]);
  std::vector<bool> reduced(xs.size(), true);
  if (node.inputs.size() > 1 && node.inputs[1].valid()) {
    const void* data = binder.known(node.inputs[1]);
    if (data == nullptr) return unsupported("its axes are not known");
    const ops::Elements<int64_t> axes =
        ops::load<int64_t>({data, binder.dtype(node.inputs[1]), binder.sizes(node.inputs[1])});
    if (axes.size() == 0 && node.attrs.boolean("noop_with_empty_axes")) return unsupported("it reduces nothing");
    if (axes.size() > 0) reduced.assign(xs.size(), false);
    for (int64_t a : axes) reduced[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(xs.size()) : a)] = true;
  } else if (node.attrs.boolean("noop_with_empty_axes")) {
    return unsupported("it reduces nothing");
  }
  size_t first = xs.size();
  while (first > 0 && reduced[first - 1]) --first;
  const int64_t elements = *binder.type(node.inputs[0]).shape.elements();
  if (elements == 0) return unsupported("there is nothing to reduce");
  const bool in_the_middle = [&] {
    for (size_t d = 0; d < first; ++d)
      if (reduced[d] && xs[d] != 1) return true;
    return false;
  }();
  if (in_the_middle) return bind_middle(binder, node, row->kind, xs, reduced);
  const int64_t cols = columns_from(xs, first);
  auto step = std::make_unique<ParamStep<kernels::RowReduceParams>>(binder.kernels().row_reduce);
  kernels::RowReduceParams& p = step->params;
  p.kind = row->kind;
  p.rows = elements / cols;
  p.cols = p.x_stride = cols;
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = "row_reduce";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_gather(NetBinder& binder, const graph::Node& node) {
  const DType dtype = binder.dtype(node.inputs[0]), index = binder.dtype(node.inputs[1]);
  if (dtype_info(dtype).block_elements != 1 || dtype == DType::string)
    return unsupported("elements of type {} cannot be moved as bytes", dtype_name(dtype));
  if (index != DType::i64 && index != DType::i32) return unsupported("indices are {}", dtype_name(index));
  const ops::AxisSteps steps = ops::axis_steps(binder.sizes(node.inputs[0]), node.attrs.integer("axis"));
  auto step = std::make_unique<GatherRowsStep>(binder.error());
  step->outer = steps.outer;
  step->size = steps.size;
  step->count = *binder.type(node.inputs[1]).shape.elements();
  step->row_bytes = steps.inner * dtype_info(dtype).block_bytes;
  step->wide = index == DType::i64;
  if (step->count == 0) return unsupported("there is nothing to gather");
  binder.point(node.inputs[0], &step->src);
  binder.point(node.inputs[1], &step->indices);
  binder.point(node.outputs[0], &step->dst);
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
