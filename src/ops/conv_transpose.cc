// SPDX-License-Identifier: Apache-2.0
// conv_transpose: the reverse of a convolution: every input position adds its weighted kernel to the output.
#include <algorithm>

#include "ops/convolution.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {kWindowAutoPad,     kWindowDilations, kConvGroup, kConvKernelShape,
                               kConvOutputPadding, kConvOutputShape, kConvCut,   kWindowStrides};

struct Extras {
  std::vector<int64_t> padding, shape;  // output_padding and output_shape, which may be empty
};

Result<Extras> read_extras(const Attrs& attrs, size_t axes) {
  Extras extras{attrs.integers("output_padding"), attrs.integers("output_shape")};
  if (extras.padding.empty()) extras.padding.assign(axes, 0);
  if (extras.padding.size() != axes)
    return invalid_argument("output_padding has {} numbers and should have {}", extras.padding.size(), axes);
  for (int64_t p : extras.padding)
    if (p < 0 || p > (int64_t{1} << 30)) return invalid_argument("output_padding holds {}; it should be at least 0", p);
  // Exporters also write batch and channel before the spatial sizes.
  if (extras.shape.size() == axes + 2) extras.shape.erase(extras.shape.begin(), extras.shape.begin() + 2);
  if (!extras.shape.empty() && extras.shape.size() != axes)
    return invalid_argument("output_shape has {} numbers and should have {}", extras.shape.size(), axes);
  return extras;
}

// Sets in, out and the padding of an axis. Seen from the output it is a window axis with `out` and `in` exchanged: here
// `in` is the size of x, `out` that of y.
Status place(Windows& windows, const Extras& extras, size_t axis, int64_t in) {
  WindowAxis& a = windows.axes[axis];
  a.in = in;
  const int64_t extra = extras.padding[axis];
  int64_t whole = 0;
  if (__builtin_mul_overflow(std::max<int64_t>(in - 1, 0), a.stride, &whole) || whole > (int64_t{1} << 60))
    return invalid_argument("spatial axis {} of the result is too large", axis);
  whole += extra + a.extent();
  const bool same = windows.auto_pad == AutoPad::kSameUpper || windows.auto_pad == AutoPad::kSameLower;
  if (!extras.shape.empty() || same) {
    a.out = extras.shape.empty() ? in * a.stride : extras.shape[axis];
    if (a.out < 0) return invalid_argument("output_shape holds {}; it should not be negative", a.out);
    const int64_t total = std::max<int64_t>(0, whole - a.out);
    a.begin = windows.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    a.end = total - a.begin;
    return Status::ok();
  }
  if (windows.auto_pad == AutoPad::kValid) a.begin = a.end = 0;
  a.out = in == 0 ? 0 : whole - a.begin - a.end;
  if (a.out < 0)
    return invalid_argument("the pads {} and {} cut more off than spatial axis {} has ({})", a.begin, a.end, axis,
                            whole);
  return Status::ok();
}

Result<Dim> place_dim(const Windows& windows, const Extras& extras, size_t axis, const Dim& in) {
  if (in.is_static()) {
    Windows copy = windows;
    NEREID_RETURN_IF_ERROR(place(copy, extras, axis, in.size()));
    return Dim(copy.axes[axis].out);
  }
  if (!extras.shape.empty()) return Dim(extras.shape[axis]);
  const WindowAxis& a = windows.axes[axis];
  const bool same = windows.auto_pad == AutoPad::kSameUpper || windows.auto_pad == AutoPad::kSameLower;
  const int64_t cut = windows.auto_pad == AutoPad::kValid ? 0 : a.begin + a.end;
  if (a.stride == 1 && (same || cut == a.extent() - 1 + extras.padding[axis])) return in;
  return Dim::unknown();
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, rule.rank(0)));
  NEREID_RETURN_IF_ERROR(rule.agree(0, 1, 1, 0));
  if (rule.type(1).dtype != rule.type(0).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(1));
  NEREID_TRY(const int64_t group, conv_group(ctx));
  if (rule.dim(1, 0).is_static() && rule.dim(1, 0).size() % group != 0)
    return invalid_argument("{} has {} input channels, which {} groups do not share", rule.describe(1),
                            rule.dim(1, 0).size(), group);
  Dim channels = group == 1 ? rule.dim(1, 1) : Dim::unknown();
  if (rule.dim(1, 1).is_static()) {
    int64_t n = 0;
    if (__builtin_mul_overflow(rule.dim(1, 1).size(), group, &n))
      return invalid_argument("group is {}; {} has too many channels for that", group, rule.describe(1));
    channels = Dim(n);
  }
  if (rule.has(2)) {
    NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
    if (!merge(rule.dim(2, 0), channels))
      return invalid_argument("{} should have {} elements, one an output channel", rule.describe(2),
                              channels.to_string());
    if (rule.type(2).dtype != rule.type(0).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(2));
  }
  NEREID_TRY(const std::vector<int64_t> kernel, conv_kernel(ctx, rule, 1));
  const size_t spatial = kernel.size();
  std::vector<Dim> dims = {rule.dim(0, 0), channels};
  if (std::ranges::find(kernel, -1) != kernel.end()) {
    dims.resize(spatial + 2, Dim::unknown());
  } else {
    NEREID_TRY(const Windows windows, read_windows(ctx.attrs, kernel));
    NEREID_TRY(const Extras extras, read_extras(ctx.attrs, spatial));
    for (size_t i = 0; i < spatial; ++i) {
      NEREID_TRY(Dim d, place_dim(windows, extras, i, rule.dim(0, static_cast<int>(i) + 2)));
      dims.push_back(std::move(d));
    }
  }
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

// Where each input position lands in the output through this tap; -1 if it is cut off.
void landing(std::span<const WindowAxis> axes, std::span<const int64_t> tap, std::vector<int64_t>& to) {
  std::ranges::fill(to, int64_t{0});
  int64_t in_stride = 1, out_stride = 1;
  for (size_t d = axes.size(); d-- > 0;) {
    const WindowAxis& a = axes[d];
    for (size_t p = 0; p < to.size(); ++p) {
      const int64_t i = static_cast<int64_t>(p) / in_stride % a.in;
      const int64_t o = i * a.stride + tap[d] * a.dilation - a.begin;
      to[p] = to[p] < 0 || o < 0 || o >= a.out ? -1 : to[p] + o * out_stride;
    }
    in_stride *= a.in;
    out_stride *= a.out;
  }
}

template <typename T>
void scatter(const EvalContext& ctx, const Windows& windows, const Elements<T>& x, const Elements<T>& w,
             Elements<T>& y) {
  const std::vector<int64_t>&xs = ctx.inputs[0].sizes, &ws = ctx.inputs[1].sizes;
  const int64_t group = ctx.attrs.integer("group");
  const int64_t in_channels = xs[1] / group, out_channels = ws[1];
  std::vector<int64_t> kernel;
  int64_t in = 1, out = 1;
  for (const WindowAxis& a : windows.axes) {
    kernel.push_back(a.kernel);
    in *= a.in;
    out *= a.out;
  }
  const int64_t taps = product_of(kernel);
  std::vector<int64_t> to(static_cast<size_t>(in));
  Elements<T> sums(in);
  Positions tap(kernel);
  for (int64_t t = 0; t < taps; ++t, tap.next()) {
    landing(windows.axes, tap.at(), to);
    for (int64_t n = 0; n < xs[0]; ++n)
      for (int64_t m = 0; m < group * out_channels; ++m) {
        const int64_t first = m / out_channels * in_channels;
        std::fill(sums.begin(), sums.end(), T(0));
        for (int64_t c = first; c < first + in_channels; ++c) {
          const T weight = w[(c * out_channels + m % out_channels) * taps + t];
          const T* src = x.data() + (n * xs[1] + c) * in;
          for (int64_t p = 0; p < in; ++p) sums[p] += weight * src[p];
        }
        T* dst = y.data() + (n * group * out_channels + m) * out;
        for (int64_t p = 0; p < in; ++p)
          if (to[static_cast<size_t>(p)] >= 0) dst[to[static_cast<size_t>(p)]] += sums[p];
      }
  }
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView &x = ctx.inputs[0], &w = ctx.inputs[1], &bias = ctx.inputs[2];
  NEREID_TRY(Windows windows, read_windows(ctx.attrs, std::span(w.sizes).subspan(2)));
  NEREID_TRY(const Extras extras, read_extras(ctx.attrs, windows.axes.size()));
  for (size_t i = 0; i < windows.axes.size(); ++i) NEREID_RETURN_IF_ERROR(place(windows, extras, i, x.sizes[i + 2]));
  return with_float(x.dtype, [&]<typename T>() {
    Elements<T> y(ctx.outputs[0].elements(), T(0));
    const int64_t channels = ctx.outputs[0].sizes[1];
    const int64_t plane = channels == 0 || y.size() == 0 ? 1 : y.size() / (x.sizes[0] * channels);
    if (bias.data != nullptr) {
      const Elements<T> b = load<T>(bias);
      for (int64_t i = 0; i < y.size(); ++i) y[i] = b[i / plane % channels];
    }
    scatter<T>(ctx, windows, load<T>(x), load<T>(w), y);
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kConvTranspose = {
    .name = "conv_transpose",
    .summary = "y[n, m, i * stride + k * dilation - pad] += w[c, m, k] x[n, c, i], plus bias[m]",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = conv_transpose_cost};

}  // namespace nereid::ops
