// SPDX-License-Identifier: Apache-2.0
// crop_and_resize: boxes cut from images and brought to one size by interpolation.
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"}, {.name = "rois"}, {.name = "batch_indices"}, {.name = "crop_size"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"extrapolation_value", AttrSpec::Kind::kFloat, "0.0", "what is outside the image"},
                               {"mode", AttrSpec::Kind::kString, "bilinear", "bilinear or nearest"}};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 4));
  NEREID_RETURN_IF_ERROR(rule.is_activation(1));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 2));
  NEREID_RETURN_IF_ERROR(rule.has_size(1, 1, 4, "the numbers of a box"));
  NEREID_RETURN_IF_ERROR(rule.is_index(2));
  NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
  NEREID_RETURN_IF_ERROR(rule.agree(1, 0, 2, 0));
  NEREID_RETURN_IF_ERROR(rule.is_index(3));
  NEREID_RETURN_IF_ERROR(rule.has_rank(3, 1));
  NEREID_RETURN_IF_ERROR(rule.has_size(3, 0, 2, "height and width"));
  const std::string& mode = ctx.attrs.text("mode");
  if (mode != "bilinear" && mode != "nearest")
    return invalid_argument("mode is '{}'; it should be bilinear or nearest", mode);
  const auto size = known_integers(ctx, 3);
  if (size && ((*size)[0] < 1 || (*size)[1] < 1))
    return invalid_argument("crop_size is {} x {}; it should be positive", (*size)[0], (*size)[1]);
  const Dim height = size ? Dim((*size)[0]) : Dim::unknown(), width = size ? Dim((*size)[1]) : Dim::unknown();
  return std::vector<TensorType>{{rule.type(0).dtype, Shape({rule.dim(1, 0), rule.dim(0, 1), height, width})}};
}

// Where position i of `count` lies between the shares `start` and `end` of an axis.
double place(double start, double end, int64_t i, int64_t count, int64_t size) {
  const double last = static_cast<double>(size - 1);
  if (count == 1) return 0.5 * (start + end) * last;
  return start * last + static_cast<double>(i) * (end - start) * last / static_cast<double>(count - 1);
}

Status evaluate(const EvalContext& ctx) {
  const std::vector<int64_t>&sizes = ctx.inputs[0].sizes, &out = ctx.outputs[0].sizes;
  const int64_t channels = sizes[1], h = sizes[2], w = sizes[3];
  const Elements<double> x = load<double>(ctx.inputs[0]), rois = load<double>(ctx.inputs[1]);
  const Elements<int64_t> images = load<int64_t>(ctx.inputs[2]);
  const double outside = ctx.attrs.real("extrapolation_value");
  const bool nearest = ctx.attrs.text("mode") == "nearest";
  Elements<double> y(ctx.outputs[0].elements(), outside);
  for (int64_t r = 0; r < images.size(); ++r) {
    if (images[r] < 0 || images[r] >= sizes[0])
      return invalid_argument("a box is of image {}, but there are {}", images[r], sizes[0]);
    const double* roi = rois.data() + r * 4;
    for (int64_t i = 0; i < out[2]; ++i)
      for (int64_t j = 0; j < out[3]; ++j) {
        const double v = place(roi[0], roi[2], i, out[2], h), u = place(roi[1], roi[3], j, out[3], w);
        if (!(v >= 0 && v <= static_cast<double>(h - 1) && u >= 0 && u <= static_cast<double>(w - 1))) continue;
        const int64_t top = static_cast<int64_t>(nearest ? std::round(v) : v);
        const int64_t left = static_cast<int64_t>(nearest ? std::round(u) : u);
        const int64_t bottom = std::min(top + 1, h - 1), right = std::min(left + 1, w - 1);
        const double down = nearest ? 0 : v - static_cast<double>(top),
                     across = nearest ? 0 : u - static_cast<double>(left);
        for (int64_t c = 0; c < channels; ++c) {
          const double* plane = x.data() + (images[r] * channels + c) * h * w;
          const double upper = plane[top * w + left] * (1 - across) + plane[top * w + right] * across;
          const double lower = plane[bottom * w + left] * (1 - across) + plane[bottom * w + right] * across;
          y[((r * channels + c) * out[2] + i) * out[3] + j] = upper * (1 - down) + lower * down;
        }
      }
  }
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kCropAndResize = {
    .name = "crop_and_resize",
    .summary = "y[r] = box rois[r] = [y1, x1, y2, x2] (shares of its sides) of image batch_indices[r], interpolated",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = cost_per_element<8>};

}  // namespace nereid::ops
