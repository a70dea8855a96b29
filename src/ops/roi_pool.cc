// SPDX-License-Identifier: Apache-2.0
// Pooling of regions of interest: max_roi_pool (whole pixels) and roi_align (interpolated points).
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kMaxInputs[] = {{.name = "x"}, {.name = "rois"}};
constexpr ArgSpec kAlignInputs[] = {{.name = "x"}, {.name = "rois"}, {.name = "batch_indices"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kMaxAttrs[] = {
    {"pooled_shape", AttrSpec::Kind::kInts, "", "height and width of the results"},
    {"spatial_scale", AttrSpec::Kind::kFloat, "1.0", "from the regions' coordinates to those of x"}};
constexpr AttrSpec kAlignAttrs[] = {
    {"coordinate_transformation_mode", AttrSpec::Kind::kString, "half_pixel",
     "half_pixel: coordinates are moved by -0.5; output_half_pixel: they are not, and no region is below 1 x 1"},
    {"mode", AttrSpec::Kind::kString, "avg", "avg or max of a bin's points"},
    {"output_height", AttrSpec::Kind::kInt, "1", "bins down"},
    {"output_width", AttrSpec::Kind::kInt, "1", "bins across"},
    {"sampling_ratio", AttrSpec::Kind::kInt, "0", "points a bin in each direction; 0: as many as it has pixels"},
    {"spatial_scale", AttrSpec::Kind::kFloat, "1.0", "from the regions' coordinates to those of x"}};

constexpr int64_t kMost = int64_t{1} << 24;

Status check(const ShapeRule& rule, int64_t columns, int64_t height, int64_t width) {
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 4));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 2));
  NEREID_RETURN_IF_ERROR(rule.has_size(1, 1, columns, "the numbers of a region"));
  if (rule.type(1).dtype != rule.type(0).dtype)
    return invalid_argument("{} and {} should have one element type", rule.describe(0), rule.describe(1));
  if (height < 1 || width < 1 || height > kMost || width > kMost)
    return invalid_argument("the results should be of a size between 1 and {}, not {} x {}", kMost, height, width);
  return Status::ok();
}

Result<std::vector<TensorType>> infer_max(const InferContext& ctx) {
  ShapeRule rule(ctx, kMaxInputs);
  const std::vector<int64_t>& size = ctx.attrs.integers("pooled_shape");
  if (size.size() != 2) return invalid_argument("pooled_shape has {} numbers and should have 2", size.size());
  NEREID_RETURN_IF_ERROR(check(rule, 5, size[0], size[1]));
  return std::vector<TensorType>{{rule.type(0).dtype, Shape({rule.dim(1, 0), rule.dim(0, 1), size[0], size[1]})}};
}

Result<std::vector<TensorType>> infer_align(const InferContext& ctx) {
  ShapeRule rule(ctx, kAlignInputs);
  const int64_t height = ctx.attrs.integer("output_height"), width = ctx.attrs.integer("output_width");
  NEREID_RETURN_IF_ERROR(check(rule, 4, height, width));
  NEREID_RETURN_IF_ERROR(rule.has_rank(2, 1));
  NEREID_RETURN_IF_ERROR(rule.is_index(2));
  NEREID_RETURN_IF_ERROR(rule.agree(1, 0, 2, 0));
  const std::string &mode = ctx.attrs.text("mode"), &moved = ctx.attrs.text("coordinate_transformation_mode");
  if (mode != "avg" && mode != "max") return invalid_argument("mode is '{}'; it should be avg or max", mode);
  if (moved != "half_pixel" && moved != "output_half_pixel")
    return invalid_argument("coordinate_transformation_mode is '{}'; it should be half_pixel or output_half_pixel",
                            moved);
  const int64_t ratio = ctx.attrs.integer("sampling_ratio");
  if (ratio < 0 || ratio > 1 << 16)
    return invalid_argument("sampling_ratio is {}; it should be 0 to {}", ratio, 1 << 16);
  return std::vector<TensorType>{{rule.type(0).dtype, Shape({rule.dim(1, 0), rule.dim(0, 1), height, width})}};
}

Status outside_batch(int64_t image, int64_t batch) {
  return invalid_argument("a region is of image {}, but there are {}", image, batch);
}

// A coordinate from data as a pixel, far outside where it is no number or large.
int64_t to_pixel(double v, int64_t size) {
  if (!(v > -1e6)) return -1;
  return v > static_cast<double>(size) ? size : static_cast<int64_t>(v);
}

Status evaluate_max(const EvalContext& ctx) {
  const std::vector<int64_t>& sizes = ctx.inputs[0].sizes;
  const int64_t batch = sizes[0], channels = sizes[1], h = sizes[2], w = sizes[3];
  const double scale = ctx.attrs.real("spatial_scale");
  const std::vector<int64_t>& pooled = ctx.attrs.integers("pooled_shape");
  return with_float(ctx.inputs[0].dtype, [&]<typename T>() {
    const Elements<T> x = load<T>(ctx.inputs[0]);
    const Elements<double> rois = load<double>(ctx.inputs[1]);
    Elements<T> y(ctx.outputs[0].elements(), T(0));
    for (int64_t r = 0; r < ctx.inputs[1].sizes[0]; ++r) {
      const double* roi = rois.data() + r * 5;
      if (!(roi[0] >= 0 && roi[0] < static_cast<double>(batch)))
        return invalid_argument("a region is of image {}, but there are {}", roi[0], batch);
      const int64_t image = static_cast<int64_t>(roi[0]);
      const double left = std::round(roi[1] * scale), top = std::round(roi[2] * scale);
      const double across = std::max(std::round(roi[3] * scale) - left + 1, 1.0);
      const double down = std::max(std::round(roi[4] * scale) - top + 1, 1.0);
      for (int64_t oh = 0; oh < pooled[0]; ++oh)
        for (int64_t ow = 0; ow < pooled[1]; ++ow) {
          const double bin_h = down / static_cast<double>(pooled[0]), bin_w = across / static_cast<double>(pooled[1]);
          const int64_t y0 = std::max<int64_t>(0, to_pixel(std::floor(static_cast<double>(oh) * bin_h) + top, h));
          const int64_t y1 = to_pixel(std::ceil(static_cast<double>(oh + 1) * bin_h) + top, h);
          const int64_t x0 = std::max<int64_t>(0, to_pixel(std::floor(static_cast<double>(ow) * bin_w) + left, w));
          const int64_t x1 = to_pixel(std::ceil(static_cast<double>(ow + 1) * bin_w) + left, w);
          if (y1 <= y0 || x1 <= x0) continue;  // an empty bin is 0
          for (int64_t c = 0; c < channels; ++c) {
            const T* plane = x.data() + (image * channels + c) * h * w;
            T best = -std::numeric_limits<T>::infinity();
            for (int64_t i = y0; i < y1; ++i)
              for (int64_t j = x0; j < x1; ++j) best = std::max(best, plane[i * w + j]);
            y[((r * channels + c) * pooled[0] + oh) * pooled[1] + ow] = best;
          }
        }
    }
    return store<T>(ctx.outputs[0], y);
  });
}

// The points of one axis of a region, in order: two pixels and their weights; both weights are 0 outside.
template <typename T>
struct Line {
  std::vector<int64_t> low, high;
  std::vector<T> low_weight, high_weight;
  int64_t a_bin = 0;

  void place(T start, T bin, int64_t bins, int64_t points, int64_t size) {
    low.clear(), high.clear(), low_weight.clear(), high_weight.clear();
    a_bin = points;
    for (int64_t b = 0; b < bins; ++b)
      for (int64_t p = 0; p < points; ++p) {
        T v = start + static_cast<T>(b) * bin + (static_cast<T>(p) + T(0.5)) * bin / static_cast<T>(points);
        const bool inside = v >= T(-1) && v <= static_cast<T>(size);
        v = inside ? std::max(v, T(0)) : T(0);
        const int64_t first = std::min(static_cast<int64_t>(v), size - 1);
        const T part = first == size - 1 ? T(0) : v - static_cast<T>(first);
        low.push_back(first);
        high.push_back(std::min(first + 1, size - 1));
        low_weight.push_back(inside ? T(1) - part : T(0));
        high_weight.push_back(inside ? part : T(0));
      }
  }
};

// The points of a bin: what its size says, within what an image of `size` pixels can hold.
template <typename T>
int64_t points_of(int64_t ratio, T bin, int64_t size) {
  if (ratio > 0) return ratio;
  const T points = std::ceil(bin);
  if (!(points > T(0))) return 0;
  return points > static_cast<T>(size + 1) * 16 ? (size + 1) * 16 : static_cast<int64_t>(points);
}

template <typename T>
T pool_bin(const T* plane, int64_t width, const Line<T>& rows, const Line<T>& columns, int64_t oh, int64_t ow,
           bool largest) {
  T sum = 0;
  bool first = true;
  for (int64_t i = oh * rows.a_bin; i < (oh + 1) * rows.a_bin; ++i)
    for (int64_t j = ow * columns.a_bin; j < (ow + 1) * columns.a_bin; ++j) {
      const size_t r = static_cast<size_t>(i), c = static_cast<size_t>(j);
      const T corners[4] = {
          rows.low_weight[r] * columns.low_weight[c] * plane[rows.low[r] * width + columns.low[c]],
          rows.low_weight[r] * columns.high_weight[c] * plane[rows.low[r] * width + columns.high[c]],
          rows.high_weight[r] * columns.low_weight[c] * plane[rows.high[r] * width + columns.low[c]],
          rows.high_weight[r] * columns.high_weight[c] * plane[rows.high[r] * width + columns.high[c]]};
      if (largest) {
        // The largest of the weighted corners, not of their sums: so the format's tests have it.
        const T best = *std::max_element(corners, corners + 4);
        sum = first ? best : std::max(sum, best);
      } else {
        sum += corners[0] + corners[1] + corners[2] + corners[3];
      }
      first = false;
    }
  const int64_t points = rows.a_bin * columns.a_bin;
  return largest ? sum : sum / static_cast<T>(std::max<int64_t>(points, 1));
}

Status evaluate_align(const EvalContext& ctx) {
  const std::vector<int64_t>& sizes = ctx.inputs[0].sizes;
  const int64_t channels = sizes[1], h = sizes[2], w = sizes[3];
  const int64_t bins_h = ctx.attrs.integer("output_height"), bins_w = ctx.attrs.integer("output_width");
  const int64_t ratio = ctx.attrs.integer("sampling_ratio");
  const bool largest = ctx.attrs.text("mode") == "max";
  const bool moved = ctx.attrs.text("coordinate_transformation_mode") == "half_pixel";
  const Elements<int64_t> images = load<int64_t>(ctx.inputs[2]);
  for (int64_t image : images)
    if (image < 0 || image >= sizes[0]) return outside_batch(image, sizes[0]);
  return with_float(ctx.inputs[0].dtype, [&]<typename T>() {
    const Elements<T> x = load<T>(ctx.inputs[0]), rois = load<T>(ctx.inputs[1]);
    Elements<T> y(ctx.outputs[0].elements(), T(0));
    if (h == 0 || w == 0) return store<T>(ctx.outputs[0], y);
    const T scale = static_cast<T>(ctx.attrs.real("spatial_scale")), shift = moved ? T(0.5) : T(0);
    Line<T> rows, columns;
    for (int64_t r = 0; r < images.size(); ++r) {
      const T* roi = rois.data() + r * 4;
      const T left = roi[0] * scale - shift, top = roi[1] * scale - shift;
      T across = roi[2] * scale - shift - left, down = roi[3] * scale - shift - top;
      if (!moved) {
        across = std::max(across, T(1));
        down = std::max(down, T(1));
      }
      const T bin_h = down / static_cast<T>(bins_h), bin_w = across / static_cast<T>(bins_w);
      rows.place(top, bin_h, bins_h, points_of(ratio, bin_h, h), h);
      columns.place(left, bin_w, bins_w, points_of(ratio, bin_w, w), w);
      for (int64_t c = 0; c < channels; ++c) {
        const T* plane = x.data() + (images[r] * channels + c) * h * w;
        for (int64_t oh = 0; oh < bins_h; ++oh)
          for (int64_t ow = 0; ow < bins_w; ++ow)
            y[((r * channels + c) * bins_h + oh) * bins_w + ow] = pool_bin(plane, w, rows, columns, oh, ow, largest);
      }
    }
    return store<T>(ctx.outputs[0], y);
  });
}

}  // namespace

extern constexpr OpDef kMaxRoiPool = {.name = "max_roi_pool",
                                      .summary = "y[r] = the largest of each bin of region r = [image, x1, y1, x2, y2]",
                                      .inputs = kMaxInputs,
                                      .outputs = kOutputs,
                                      .attrs = kMaxAttrs,
                                      .infer = infer_max,
                                      .evaluate = evaluate_max,
                                      .cost = cost_per_element<4>};
extern constexpr OpDef kRoiAlign = {.name = "roi_align",
                                    .summary =
                                        "y[r] = mean or largest of interpolated points of each bin of region r = "
                                        "[x1, y1, x2, y2] of image batch_indices[r]",
                                    .inputs = kAlignInputs,
                                    .outputs = kOutputs,
                                    .attrs = kAlignAttrs,
                                    .infer = infer_align,
                                    .evaluate = evaluate_align,
                                    .cost = cost_per_element<16>};

}  // namespace nereid::ops
