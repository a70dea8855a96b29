// SPDX-License-Identifier: Apache-2.0
// Ops that only move elements: transpose, slice, expand, tile of one repeat, split, pad with a constant.
#include <algorithm>
#include <cstring>

#include "ops/elements.h"
#include "ops/shape_rule.h"
#include "runtime/net/bind_rows.h"
#include "runtime/net/strided_copy.h"

namespace nereid::runtime {
namespace {

std::vector<int64_t> row_major(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> steps(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) steps[d - 1] = steps[d] * sizes[d];
  return steps;
}

Result<int64_t> element_bytes(NetBinder& binder, graph::ValueId id) {
  const DType dtype = binder.dtype(id);
  if (dtype_info(dtype).block_elements != 1 || dtype == DType::string)
    return unsupported("elements of type {} cannot be moved as bytes", dtype_name(dtype));
  return int64_t{dtype_info(dtype).block_bytes};
}

std::unique_ptr<NetStep> copy_step(NetBinder& binder, graph::ValueId src, int64_t src_offset, graph::ValueId dst,
                                   int64_t dst_offset, std::vector<CopyDim> dims, int64_t bytes) {
  auto step = std::make_unique<StridedCopyStep>(std::move(dims), bytes);
  binder.point(src, &step->src, src_offset * bytes);
  binder.point(dst, &step->dst, dst_offset * bytes);
  return step;
}

std::vector<int64_t> integers(NetBinder& binder, const void* data, graph::ValueId id) {
  const ops::Elements<int64_t> v = ops::load<int64_t>({data, binder.dtype(id), binder.sizes(id)});
  return {v.begin(), v.end()};
}

// Several copies one after the other; they write different places.
class SeveralSteps final : public NetStep {
 public:
  void run(Worker& worker) override {
    for (auto& step : steps) step->run(worker);
  }
  std::vector<std::unique_ptr<NetStep>> steps;
};

// [batch, rows, columns] of bytes with few rows -> [batch, columns, rows]: an image's colours side by side.
class InterleaveStep final : public NetStep {
 public:
  void run(Worker& worker) override {
    const auto [begin, end] = worker.slice(batch * columns);
    for (int64_t at = begin; at < end;) {
      const int64_t image = at / columns, first = at % columns, count = std::min(columns - first, end - at);
      const uint8_t* from = src + image * rows * columns + first;
      uint8_t* to = dst + at * rows;
      int64_t done = 0;
      if (rows == 3)  // a pixel is one store, whose fourth byte the next pixel overwrites
        for (; done + 2 <= count; ++done) {
          const uint32_t pixel =
              from[done] | uint32_t{from[columns + done]} << 8 | uint32_t{from[2 * columns + done]} << 16;
          std::memcpy(to + 3 * done, &pixel, 4);
        }
      for (int64_t r = 0; r < rows; ++r, from += columns)
        for (int64_t i = done; i < count; ++i) to[i * rows + r] = from[i];
      at += count;
    }
  }
  const uint8_t* src = nullptr;
  uint8_t* dst = nullptr;
  int64_t batch = 1, rows = 1, columns = 1;
};

class FillStep final : public NetStep {
 public:
  void run(Worker& worker) override {
    const auto [begin, end] = worker.slice(count);
    for (int64_t i = begin; i < end; ++i)
      for (size_t b = 0; b < value.size(); ++b)
        dst[i * static_cast<int64_t>(value.size()) + static_cast<int64_t>(b)] = value[b];
    worker.barrier();
  }
  std::byte* dst = nullptr;
  std::vector<std::byte> value;
  int64_t count = 0;
};

}  // namespace

Result<std::unique_ptr<NetStep>> bind_net_transpose(NetBinder& binder, const graph::Node& node) {
  if (binder.planes_of(node.outputs[0]).valid()) {
    auto nothing = std::make_unique<SeveralSteps>();
    nothing->kernel = "as planes";
    return std::unique_ptr<NetStep>(std::move(nothing));
  }
  const graph::ValueId x = node.inputs[0], y = node.outputs[0];
  NEREID_TRY(const int64_t bytes, element_bytes(binder, x));
  const std::vector<int64_t> xs = binder.sizes(x), ys = binder.sizes(y);
  const std::vector<int64_t> from = row_major(xs), to = row_major(ys);
  std::vector<int64_t> permutation = node.attrs.integers("permutation");
  if (permutation.empty())
    for (size_t d = xs.size(); d-- > 0;) permutation.push_back(static_cast<int64_t>(d));
  std::vector<CopyDim> dims;
  for (size_t d = 0; d < ys.size(); ++d) dims.push_back({ys[d], from[static_cast<size_t>(permutation[d])], to[d]});
  // [batch, rows, cols] -> [batch, cols, rows] has a kernel that works on blocks.
  std::vector<CopyDim> merged;
  for (const CopyDim& d : dims) {
    if (d.size == 1) continue;
    if (!merged.empty() && merged.back().src == d.src * d.size) {
      merged.back() = {merged.back().size * d.size, d.src, d.dst};
    } else {
      merged.push_back(d);
    }
  }
  const size_t n = merged.size();
  const bool follows = (n == 2 || n == 3) && merged[n - 2].src == 1 && *binder.type(x).shape.elements() > 0 &&
                       (n == 2 || merged[0].src == merged[n - 1].size * merged[n - 2].size);
  if (follows && bytes == 1 && merged[n - 1].size <= 4) {
    auto step = std::make_unique<InterleaveStep>();
    step->batch = n == 3 ? merged[0].size : 1;
    step->rows = merged[n - 1].size;
    step->columns = merged[n - 2].size;
    binder.point(x, &step->src);
    binder.point(y, &step->dst);
    step->kernel = "interleave";
    return std::unique_ptr<NetStep>(std::move(step));
  }
  if (!follows || bytes != 4) return copy_step(binder, x, 0, y, 0, std::move(dims), bytes);
  auto step = std::make_unique<ParamStep<kernels::TransposeParams>>(binder.kernels().transpose);
  kernels::TransposeParams& p = step->params;
  p.batch = n == 3 ? merged[0].size : 1;
  p.rows = merged[n - 1].size;
  p.cols = merged[n - 2].size;
  p.x_stride = p.cols;
  p.y_stride = p.rows;
  p.x_batch_stride = p.y_batch_stride = p.rows * p.cols;
  binder.point(x, &p.x);
  binder.point(y, &p.y);
  step->kernel = "transpose";
  return std::unique_ptr<NetStep>(std::move(step));
}

Result<std::unique_ptr<NetStep>> bind_net_slice(NetBinder& binder, const graph::Node& node) {
  const graph::ValueId x = node.inputs[0], y = node.outputs[0];
  NEREID_TRY(const int64_t bytes, element_bytes(binder, x));
  const std::vector<int64_t> xs = binder.sizes(x), ys = binder.sizes(y), from = row_major(xs), to = row_major(ys);
  const auto known = [&](size_t i) {
    return node.inputs.size() > i && node.inputs[i].valid() ? binder.known(node.inputs[i]) : nullptr;
  };
  if (known(1) == nullptr || known(2) == nullptr) return unsupported("where it begins is not known");
  const std::vector<int64_t> starts = integers(binder, known(1), node.inputs[1]);
  std::vector<int64_t> axes, steps(starts.size(), 1);
  if (node.inputs.size() > 3 && node.inputs[3].valid()) {
    if (known(3) == nullptr) return unsupported("its axes are not known");
    axes = integers(binder, known(3), node.inputs[3]);
  } else {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (node.inputs.size() > 4 && node.inputs[4].valid()) {
    if (known(4) == nullptr) return unsupported("its steps are not known");
    steps = integers(binder, known(4), node.inputs[4]);
  }
  std::vector<CopyDim> dims;
  for (size_t d = 0; d < ys.size(); ++d) dims.push_back({ys[d], from[d], to[d]});
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(xs.size()) : axes[i]);
    const int64_t size = xs[axis];
    int64_t start = starts[i] < 0 ? starts[i] + size : starts[i];
    start = std::clamp<int64_t>(start, 0, steps[i] < 0 ? size - 1 : size);
    offset += start * from[axis];
    dims[axis].src = from[axis] * steps[i];
  }
  if (*binder.type(y).shape.elements() == 0) offset = 0;
  return copy_step(binder, x, offset, y, 0, std::move(dims), bytes);
}

Result<std::unique_ptr<NetStep>> bind_net_expand(NetBinder& binder, const graph::Node& node) {
  const graph::ValueId x = node.inputs[0], y = node.outputs[0];
  NEREID_TRY(const int64_t bytes, element_bytes(binder, x));
  const std::vector<int64_t> xs = binder.sizes(x), ys = binder.sizes(y), from = row_major(xs), to = row_major(ys);
  std::vector<CopyDim> dims;
  for (size_t d = 0; d < ys.size(); ++d) {
    const size_t missing = ys.size() - xs.size();
    const bool repeats = d < missing || xs[d - missing] == 1;
    dims.push_back({ys[d], repeats ? 0 : from[d - missing], to[d]});
  }
  return copy_step(binder, x, 0, y, 0, std::move(dims), bytes);
}

Result<std::unique_ptr<NetStep>> bind_net_split(NetBinder& binder, const graph::Node& node) {
  const graph::ValueId x = node.inputs[0];
  NEREID_TRY(const int64_t bytes, element_bytes(binder, x));
  const std::vector<int64_t> xs = binder.sizes(x), from = row_major(xs);
  int64_t axis = node.attrs.has("axis") ? node.attrs.integer("axis") : -1;
  if (axis < 0) axis += static_cast<int64_t>(xs.size());
  auto several = std::make_unique<SeveralSteps>();
  int64_t offset = 0;
  for (graph::ValueId y : node.outputs) {
    const std::vector<int64_t> ys = binder.sizes(y), to = row_major(ys);
    std::vector<CopyDim> dims;
    for (size_t d = 0; d < ys.size(); ++d) dims.push_back({ys[d], from[d], to[d]});
    several->steps.push_back(copy_step(binder, x, offset, y, 0, std::move(dims), bytes));
    offset += ys[static_cast<size_t>(axis)] * from[static_cast<size_t>(axis)];
  }
  several->kernel = "copy";
  return std::unique_ptr<NetStep>(std::move(several));
}

Result<std::unique_ptr<NetStep>> bind_net_pad(NetBinder& binder, const graph::Node& node) {
  if (node.attrs.text("mode") != "constant") return unsupported("its mode is {}", node.attrs.text("mode"));
  const graph::ValueId x = node.inputs[0], y = node.outputs[0];
  NEREID_TRY(const int64_t bytes, element_bytes(binder, x));
  const auto given = [&](size_t i) { return node.inputs.size() > i && node.inputs[i].valid(); };
  const void* pads_data = binder.known(node.inputs[1]);
  if (pads_data == nullptr) return unsupported("how much is added is not known");
  const std::vector<int64_t> pads = integers(binder, pads_data, node.inputs[1]);
  const std::vector<int64_t> xs = binder.sizes(x), ys = binder.sizes(y), from = row_major(xs), to = row_major(ys);
  std::vector<int64_t> begins(xs.size(), 0);
  std::vector<int64_t> axes;
  if (given(3)) {
    if (binder.known(node.inputs[3]) == nullptr) return unsupported("its axes are not known");
    axes = integers(binder, binder.known(node.inputs[3]), node.inputs[3]);
  } else {
    for (size_t d = 0; d < xs.size(); ++d) axes.push_back(static_cast<int64_t>(d));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (pads[i] < 0 || pads[i + axes.size()] < 0) return unsupported("it cuts something off");
    begins[static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(xs.size()) : axes[i])] = pads[i];
  }
  auto several = std::make_unique<SeveralSteps>();
  auto fill = std::make_unique<FillStep>();
  fill->count = *binder.type(y).shape.elements();
  fill->value.assign(static_cast<size_t>(bytes), std::byte{0});
  if (given(2)) {
    const void* value = binder.known(node.inputs[2]);
    if (value == nullptr || binder.dtype(node.inputs[2]) != binder.dtype(x))
      return unsupported("what is added is not known");
    const auto* first = static_cast<const std::byte*>(value);
    fill->value.assign(first, first + bytes);
  }
  binder.point(y, &fill->dst);
  several->steps.push_back(std::move(fill));
  std::vector<CopyDim> dims;
  int64_t offset = 0;
  for (size_t d = 0; d < xs.size(); ++d) {
    dims.push_back({xs[d], from[d], to[d]});
    offset += begins[d] * to[d];
  }
  if (*binder.type(x).shape.elements() == 0) return unsupported("there is nothing in the middle");
  several->steps.push_back(copy_step(binder, x, 0, y, offset, std::move(dims), bytes));
  several->kernel = "copy";
  return std::unique_ptr<NetStep>(std::move(several));
}

}  // namespace nereid::runtime
