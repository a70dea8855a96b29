// SPDX-License-Identifier: Apache-2.0
// Resizing of channels-last images by nearest or linear sampling. Which positions each result reads is asked of the op
// itself: resizing an image that holds its own coordinates gives them.
#include <cmath>

#include "ops/elements.h"
#include "ops/run.h"
#include "runtime/net/bind_rows.h"

namespace nereid::runtime {
namespace {

class ResizeStep final : public NetStep {
 public:
  explicit ResizeStep(const kernels::IsaKernels& kernels) : kernels_(kernels) {}
  void run(Worker& worker) override { kernels_.resize(params, worker); }
  kernels::ResizeParams params;
  struct Axis {
    std::vector<int32_t> first, second;
    std::vector<float> weight;
  };
  Axis y, x;

 private:
  const kernels::IsaKernels& kernels_;
};

ops::Tensor integers(const std::vector<int64_t>& values) {
  ops::Tensor t = ops::Tensor::zeros(DType::i64, {static_cast<int64_t>(values.size())}).value();
  (void)ops::store<int64_t>(t.view(), std::span<const int64_t>(values));
  return t;
}

// Coordinates in the input of every position of one axis (1 or 2) of the output.
Result<std::vector<float>> coordinates(NetBinder& binder, const graph::Node& node, const std::vector<int64_t>& xs,
                                       const std::vector<int64_t>& ys, size_t axis) {
  ops::Tensor ramp = ops::Tensor::zeros(DType::f32, {1, xs[1], xs[2], 1}).value();
  auto* values = reinterpret_cast<float*>(ramp.bytes.data());
  for (int64_t h = 0; h < xs[1]; ++h)
    for (int64_t w = 0; w < xs[2]; ++w) *values++ = static_cast<float>(axis == 1 ? h : w);
  std::vector<ConstTensorView> inputs{std::as_const(ramp).view()};
  std::vector<ops::Tensor> storage;
  storage.reserve(node.inputs.size());
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    inputs.emplace_back();
    if (!node.inputs[i].valid()) continue;
    const void* data = binder.known(node.inputs[i]);
    if (data == nullptr) return unsupported("its sizes are not known");
    ConstTensorView view(data, binder.dtype(node.inputs[i]), binder.sizes(node.inputs[i]));
    if (i == 3) {  // sizes of one sample and channel
      const ops::Elements<int64_t> wanted = ops::load<int64_t>(view);
      std::vector<int64_t> one(wanted.begin(), wanted.end());
      std::vector<int64_t> axes = node.attrs.integers("axes");
      if (axes.empty()) axes = {0, 1, 2, 3};
      for (size_t a = 0; a < axes.size() && a < one.size(); ++a)
        if (axes[a] % 4 == 0 || axes[a] == 3 || axes[a] == -1) one[a] = 1;
      storage.push_back(integers(one));
      view = std::as_const(storage.back()).view();
    }
    inputs.back() = view;
  }
  NEREID_TRY(const std::vector<ops::Tensor> results, ops::run(*node.op, inputs, {}, node.attrs));
  const std::vector<int64_t> expected{1, ys[1], ys[2], 1};
  if (results[0].sizes != expected) return unsupported("it changes the samples or channels");
  std::vector<float> out;
  const auto* result = reinterpret_cast<const float*>(results[0].bytes.data());
  for (int64_t i = 0; i < ys[axis]; ++i) out.push_back(result[axis == 1 ? i * ys[2] : i]);
  return out;
}

Status fill(const std::vector<float>& at, int64_t size, bool nearest, ResizeStep::Axis& axis) {
  for (float c : at) {
    if (!(c >= 0 && c <= static_cast<float>(size - 1))) return unsupported("it reads outside the image");
    const auto first = static_cast<int32_t>(nearest ? std::lround(c) : static_cast<int64_t>(std::floor(c)));
    axis.first.push_back(first);
    axis.second.push_back(std::min(first + 1, static_cast<int32_t>(size - 1)));
    axis.weight.push_back(c - static_cast<float>(first));
  }
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_resize(NetBinder& binder, const graph::Node& node) {
  if (binder.dtype(node.inputs[0]) != DType::f32) return unsupported("x is not f32");
  const std::vector<int64_t> xs = binder.sizes(node.inputs[0]), ys = binder.sizes(node.outputs[0]);
  if (xs.size() != 4 || xs[0] != ys[0] || xs[3] != ys[3]) return unsupported("it is no channels-last image");
  const std::string& mode = node.attrs.text("mode");
  if (mode == "cubic" || node.attrs.boolean("antialias")) return unsupported("its filter is longer than two positions");
  if (node.attrs.text("coordinate_transformation_mode") == "tf_crop_and_resize") return unsupported("it crops");
  if (*binder.type(node.outputs[0]).shape.elements() == 0) return unsupported("there is nothing to compute");
  auto step = std::make_unique<ResizeStep>(binder.kernels());
  const bool nearest = mode == "nearest";
  NEREID_TRY(const std::vector<float> rows, coordinates(binder, node, xs, ys, 1));
  NEREID_TRY(const std::vector<float> columns, coordinates(binder, node, xs, ys, 2));
  NEREID_RETURN_IF_ERROR(fill(rows, xs[1], nearest, step->y));
  NEREID_RETURN_IF_ERROR(fill(columns, xs[2], nearest, step->x));
  kernels::ResizeParams& p = step->params;
  p.batch = xs[0];
  p.in_h = xs[1];
  p.in_w = xs[2];
  p.c = xs[3];
  p.out_h = ys[1];
  p.out_w = ys[2];
  p.y0 = step->y.first.data();
  p.x0 = step->x.first.data();
  if (!nearest) {
    p.y1 = step->y.second.data();
    p.y_weight = step->y.weight.data();
    p.x1 = step->x.second.data();
    p.x_weight = step->x.weight.data();
  }
  p.x_stride = p.c;
  p.y_stride = binder.row_stride(node.outputs[0]);
  binder.point(node.inputs[0], &p.x);
  binder.point(node.outputs[0], &p.y);
  step->kernel = nearest ? "resize.nearest" : "resize.linear";
  return std::unique_ptr<NetStep>(std::move(step));
}

}  // namespace nereid::runtime
