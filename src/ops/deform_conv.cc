// SPDX-License-Identifier: Apache-2.0
// deform_conv: convolution whose taps are moved by offsets and weighted by a mask, both tensors of their own.
#include <algorithm>
#include <cmath>

#include "ops/convolution.h"
#include "ops/elements.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "w"},
                               {.name = "offset"},
                               {.name = "bias", .optional = true},
                               {.name = "mask", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    kWindowDilations, kConvGroup,
    kConvKernelShape, {"offset_group", AttrSpec::Kind::kInt, "1", "groups of channels that share offsets"},
    kWindowPads,      kWindowStrides};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  for (size_t i = 1; i < 5; ++i) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, i == 3 ? 1 : rule.rank(0)));
    if (rule.type(i).dtype != rule.type(0).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(i));
  }
  if (rule.has(3)) NEREID_RETURN_IF_ERROR(rule.agree(3, 0, 1, 0));
  NEREID_TRY(const int64_t group, conv_group(ctx));
  NEREID_RETURN_IF_ERROR(check_conv_channels(rule, 0, 1, group));
  const int64_t offset_group = ctx.attrs.integer("offset_group");
  const Dim& channels = rule.dim(0, 1);
  if (offset_group < 1 || (channels.is_static() && channels.size() % offset_group != 0))
    return invalid_argument("offset_group is {}; it should be at least 1 and divide the channels of {}", offset_group,
                            rule.describe(0));
  NEREID_TRY(const std::vector<int64_t> kernel, conv_kernel(ctx, rule, 1));
  NEREID_TRY(Shape image, conv_shape(ctx, rule.shape(0), rule.dim(1, 0), kernel));
  if (std::ranges::find(kernel, -1) != kernel.end())
    return std::vector<TensorType>{{rule.type(0).dtype, std::move(image)}};
  // The offsets and masks must be as many as there are outputs.
  const auto taps = checked_product(kernel);
  int64_t moved = 0;
  if (!taps || offset_group > (1 << 30) || __builtin_mul_overflow(*taps, offset_group * (image.rank() - 2), &moved))
    return invalid_argument("the kernel has too many taps");
  NEREID_RETURN_IF_ERROR(rule.has_size(2, 1, moved, "offset_group * taps * spatial axes"));
  if (rule.has(4)) NEREID_RETURN_IF_ERROR(rule.has_size(4, 1, *taps * offset_group, "offset_group * taps"));
  for (size_t i : {size_t{2}, size_t{4}}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.agree(i, 0, 0, 0));
    for (int d = 2; d < image.rank(); ++d)
      if (!merge(rule.dim(i, d), image[d]))
        return invalid_argument("dimension {} of {} should be {}, the result's size", d, rule.describe(i),
                                image[d].to_string());
  }
  return std::vector<TensorType>{{rule.type(0).dtype, std::move(image)}};
}

// The corners around a point and their weights in linear interpolation; corners outside are left out.
template <typename T>
struct Corners {
  std::vector<int64_t> at;
  std::vector<T> weight;

  void around(std::span<const T> point, std::span<const WindowAxis> axes) {
    at.assign(1, 0);
    weight.assign(1, T(1));
    for (size_t d = 0; d < axes.size(); ++d) {
      const T low = std::floor(point[d]);
      // Written so that a point that is no number is outside too.
      if (!(low >= T(-1) && low < static_cast<T>(axes[d].in))) {
        at.clear();
        weight.clear();
        return;
      }
      const int64_t first = static_cast<int64_t>(low);
      const T part = point[d] - low;
      const size_t n = at.size();
      std::vector<int64_t> next_at;
      std::vector<T> next_weight;
      for (size_t i = 0; i < n; ++i)
        for (int64_t side = 0; side < 2; ++side) {
          const int64_t p = first + side;
          if (p < 0 || p >= axes[d].in) continue;
          next_at.push_back(at[i] * axes[d].in + p);
          next_weight.push_back(weight[i] * (side == 0 ? T(1) - part : part));
        }
      at.swap(next_at);
      weight.swap(next_weight);
    }
  }
};

template <typename T>
void convolve(const EvalContext& ctx, const Windows& windows, Elements<T>& y) {
  const auto &xs = ctx.inputs[0].sizes, &ws = ctx.inputs[1].sizes;
  const Elements<T> x = load<T>(ctx.inputs[0]), w = load<T>(ctx.inputs[1]), offset = load<T>(ctx.inputs[2]);
  const bool has_bias = ctx.inputs[3].data != nullptr, has_mask = ctx.inputs[4].data != nullptr;
  const Elements<T> bias = has_bias ? load<T>(ctx.inputs[3]) : Elements<T>();
  const Elements<T> mask = has_mask ? load<T>(ctx.inputs[4]) : Elements<T>();
  const int64_t group = ctx.attrs.integer("group"), offset_group = ctx.attrs.integer("offset_group");
  std::vector<int64_t> kernel, out_sizes;
  int64_t plane = 1;
  for (const WindowAxis& a : windows.axes) {
    kernel.push_back(a.kernel);
    out_sizes.push_back(a.out);
    plane *= a.in;
  }
  const int64_t taps = product_of(kernel), out = product_of(out_sizes), axes = static_cast<int64_t>(kernel.size());
  const int64_t channels = xs[1], shared = channels / offset_group, in_channels = channels / group;
  Elements<T> seen(channels * taps);  // what the taps of one output position see
  std::vector<T> point(kernel.size());
  Corners<T> corners;
  for (int64_t n = 0; n < xs[0]; ++n) {
    Positions position(out_sizes);
    for (int64_t o = 0; o < out; ++o, position.next()) {
      for (int64_t g = 0; g < offset_group; ++g) {
        Positions tap(kernel);
        for (int64_t t = 0; t < taps; ++t, tap.next()) {
          const int64_t row = (n * offset_group + g) * taps + t;
          for (size_t d = 0; d < point.size(); ++d) {
            const WindowAxis& a = windows.axes[d];
            point[d] = static_cast<T>(a.start(position[d]) + tap[d] * a.dilation) +
                       offset[(row * axes + static_cast<int64_t>(d)) * out + o];
          }
          corners.around(point, windows.axes);
          const T factor = has_mask ? mask[row * out + o] : T(1);
          for (int64_t c = g * shared; c < (g + 1) * shared; ++c) {
            T sum = 0;
            for (size_t i = 0; i < corners.at.size(); ++i)
              sum += corners.weight[i] * x[(n * channels + c) * plane + corners.at[i]];
            seen[c * taps + t] = sum * factor;
          }
        }
      }
      for (int64_t m = 0; m < ws[0]; ++m) {
        const int64_t first = m / (ws[0] / group) * in_channels;
        T sum = has_bias ? bias[m] : T(0);
        for (int64_t k = 0; k < in_channels * taps; ++k) sum += w[m * in_channels * taps + k] * seen[first * taps + k];
        y[(n * ws[0] + m) * out + o] = sum;
      }
    }
  }
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(Windows windows, read_windows(ctx.attrs, std::span(ctx.inputs[1].sizes).subspan(2)));
  NEREID_RETURN_IF_ERROR(fit_image(windows, ctx.inputs[0].sizes));
  return with_float(ctx.inputs[0].dtype, [&]<typename T>() {
    Elements<T> y(ctx.outputs[0].elements());
    convolve<T>(ctx, windows, y);
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kDeformConv = {
    .name = "deform_conv",
    .summary = "as conv, each tap moved by its offset (linear interpolation, 0 outside) and weighted by its mask",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = conv_cost};

}  // namespace nereid::ops
