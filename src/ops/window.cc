// SPDX-License-Identifier: Apache-2.0
// Reading and fitting of sliding windows.
#include "ops/window.h"

#include <algorithm>

namespace nereid::ops {
namespace {

constexpr int64_t kMost = int64_t{1} << 30;

Result<AutoPad> read_auto_pad(const std::string& text) {
  if (text.empty() || text == "NOTSET") return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  return invalid_argument("auto_pad is '{}'; it should be NOTSET, SAME_UPPER, SAME_LOWER or VALID", text);
}

// The list, or `fallback` n times if it is empty or not an attribute of the op.
Result<std::vector<int64_t>> read_list(const Attrs& attrs, std::string_view name, size_t n, int64_t fallback,
                                       int64_t least) {
  if (!attrs.has(name) || attrs.integers(name).empty()) return std::vector<int64_t>(n, fallback);
  const std::vector<int64_t>& list = attrs.integers(name);
  if (list.size() != n) return invalid_argument("{} has {} numbers and should have {}", name, list.size(), n);
  for (int64_t v : list)
    if (v < least || v > kMost) return invalid_argument("{} holds {}; it should be {} to {}", name, v, least, kMost);
  return list;
}

}  // namespace

WindowAxis::Taps WindowAxis::taps_within(int64_t o, int64_t low, int64_t high) const {
  const int64_t s = start(o);
  const int64_t first = s >= low ? 0 : (low - s + dilation - 1) / dilation;
  const int64_t last = s >= high ? 0 : std::min(kernel, (high - s + dilation - 1) / dilation);
  return {first, std::max(first, last)};
}

Result<Windows> read_windows(const Attrs& attrs, std::span<const int64_t> kernel) {
  const size_t n = kernel.size();
  Windows windows;
  NEREID_TRY(const std::vector<int64_t> strides, read_list(attrs, "strides", n, 1, 1));
  NEREID_TRY(const std::vector<int64_t> dilations, read_list(attrs, "dilations", n, 1, 1));
  NEREID_TRY(const std::vector<int64_t> pads, read_list(attrs, "pads", 2 * n, 0, 0));
  for (size_t i = 0; i < n; ++i) {
    if (kernel[i] < 1 || kernel[i] > kMost)
      return invalid_argument("axis {} of the kernel has size {}; it should be 1 to {}", i, kernel[i], kMost);
    windows.axes.push_back({.kernel = kernel[i],
                            .stride = strides[i],
                            .dilation = dilations[i],
                            .begin = pads[i],
                            .end = pads[n + i],
                            .in = 0,
                            .out = 0});
  }
  if (attrs.has("auto_pad")) {
    NEREID_TRY(windows.auto_pad, read_auto_pad(attrs.text("auto_pad")));
  }
  windows.ceil_mode = attrs.has("ceil_mode") && attrs.boolean("ceil_mode");
  return windows;
}

Status fit(Windows& windows, size_t axis, int64_t in) {
  WindowAxis& a = windows.axes[axis];
  a.in = in;
  if (windows.auto_pad == AutoPad::kSameUpper || windows.auto_pad == AutoPad::kSameLower) {
    a.out = in == 0 ? 0 : (in - 1) / a.stride + 1;
    const int64_t total = std::max<int64_t>(0, (a.out - 1) * a.stride + a.extent() - in);
    a.begin = windows.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    a.end = total - a.begin;
    return Status::ok();
  }
  if (windows.auto_pad == AutoPad::kValid) a.begin = a.end = 0;
  const int64_t room = in + a.begin + a.end - a.extent();
  if (room < 0)
    return invalid_argument("a window over {} positions does not fit the padded size {} of spatial axis {}", a.extent(),
                            in + a.begin + a.end, axis);
  a.out = room / a.stride + 1;
  // Rounding up adds a window that the end cuts off, unless it would start behind the input.
  const bool rounds_up = windows.ceil_mode && windows.auto_pad == AutoPad::kNotSet && room % a.stride != 0;
  if (rounds_up && a.out * a.stride < in + a.begin) ++a.out;
  return Status::ok();
}

Status fit_image(Windows& windows, std::span<const int64_t> sizes) {
  for (size_t i = 0; i < windows.axes.size(); ++i) NEREID_RETURN_IF_ERROR(fit(windows, i, sizes[i + 2]));
  return Status::ok();
}

Result<Dim> fit_dim(const Windows& windows, size_t axis, const Dim& in) {
  if (in.is_static()) {
    Windows copy = windows;
    NEREID_RETURN_IF_ERROR(fit(copy, axis, in.size()));
    return Dim(copy.axes[axis].out);
  }
  const WindowAxis& a = windows.axes[axis];
  const bool same = windows.auto_pad == AutoPad::kSameUpper || windows.auto_pad == AutoPad::kSameLower;
  const int64_t padding = windows.auto_pad == AutoPad::kValid ? 0 : a.begin + a.end;
  if (a.stride == 1 && (same || padding == a.extent() - 1)) return in;
  return Dim::unknown();
}

Result<Shape> fit_shape(const Windows& windows, const Shape& image) {
  std::vector<Dim> dims = {image[0], image[1]};
  for (size_t i = 0; i < windows.axes.size(); ++i) {
    NEREID_TRY(Dim d, fit_dim(windows, i, image[static_cast<int>(i) + 2]));
    dims.push_back(std::move(d));
  }
  return Shape(std::move(dims));
}

Status is_image(const TensorType& type, std::string_view name) {
  if (type.shape.rank() >= 3) return Status::ok();
  return invalid_argument("{} {} should have a batch, a channel and at least one spatial dimension", name,
                          type.to_string());
}

Positions::Positions(std::vector<int64_t> sizes) : sizes_(std::move(sizes)), at_(sizes_.size(), 0) {}

int64_t product_of(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

}  // namespace nereid::ops
