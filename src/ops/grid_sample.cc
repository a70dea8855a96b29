// SPDX-License-Identifier: Apache-2.0
// grid_sample: an image read at positions that a grid gives; affine_grid: the grid of an affine map.
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"
#include "ops/window.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kSampleInputs[] = {{.name = "x"}, {.name = "grid"}};
constexpr ArgSpec kGridInputs[] = {{.name = "theta"}, {.name = "size"}};
constexpr ArgSpec kSampleOutputs[] = {{.name = "y"}};
constexpr ArgSpec kGridOutputs[] = {{.name = "grid"}};
constexpr AttrSpec kAlign = {"align_corners", AttrSpec::Kind::kBool, "false",
                             "whether -1 and 1 are the centers of the outer pixels; else their outer edges"};
constexpr AttrSpec kSampleAttrs[] = {
    kAlign,
    {"mode", AttrSpec::Kind::kString, "linear", "linear, nearest or cubic"},
    {"padding_mode", AttrSpec::Kind::kString, "zeros", "what is outside: zeros, border or reflection"}};
constexpr AttrSpec kGridAttrs[] = {kAlign};

enum class Padding : uint8_t { kZeros, kBorder, kReflection };

struct Rule {
  bool nearest = false, cubic = false, align = false;
  Padding padding = Padding::kZeros;
};

Result<Rule> read_rule(const Attrs& attrs) {
  Rule rule{.align = attrs.boolean("align_corners")};
  const std::string &mode = attrs.text("mode"), &padding = attrs.text("padding_mode");
  rule.nearest = mode == "nearest";
  rule.cubic = mode == "cubic";
  if (!rule.nearest && !rule.cubic && mode != "linear")
    return invalid_argument("mode is '{}'; it should be linear, nearest or cubic", mode);
  if (padding == "border") {
    rule.padding = Padding::kBorder;
  } else if (padding == "reflection") {
    rule.padding = Padding::kReflection;
  } else if (padding != "zeros") {
    return invalid_argument("padding_mode is '{}'; it should be zeros, border or reflection", padding);
  }
  return rule;
}

Result<std::vector<TensorType>> infer_sample(const InferContext& ctx) {
  ShapeRule rule(ctx, kSampleInputs);
  NEREID_TRY(const Rule how, read_rule(ctx.attrs));
  const DType dtype = rule.type(0).dtype;
  if (is_block_format(dtype) || (!how.nearest && !is_float(dtype) && !is_integer(dtype)))
    return no_such_elements(dtype);
  if (!is_float(rule.type(1).dtype)) return invalid_argument("{} should be of a float type", rule.describe(1));
  NEREID_RETURN_IF_ERROR(is_image(rule.type(0), "x"));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, rule.rank(0)));
  NEREID_RETURN_IF_ERROR(rule.agree(0, 0, 1, 0));
  NEREID_RETURN_IF_ERROR(rule.has_size(1, -1, rule.rank(0) - 2, "one coordinate a spatial axis"));
  std::vector<Dim> dims = {rule.dim(0, 0), rule.dim(0, 1)};
  for (int d = 1; d + 1 < rule.rank(1); ++d) dims.push_back(rule.dim(1, d));
  return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
}

// A coordinate brought inside by reflection at `low` and `high`, as often as needed.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0) return 0;
  double rest = std::fmod(std::abs(x - low), 2 * range);
  return low + (rest > range ? 2 * range - rest : rest);
}

// The pixels of one axis that a point reads: up to four, each with a weight; -1: outside, which is zero.
struct Reads {
  int count = 0;
  int64_t at[4] = {};
  double weight[4] = {};
};

// A pixel's index by the padding rule; -1 for zero.
int64_t pixel(const Rule& rule, double i, int64_t size) {
  if (rule.padding == Padding::kReflection)
    i = rule.align ? reflect(i, 0, static_cast<double>(size - 1)) : reflect(i, -0.5, static_cast<double>(size) - 0.5);
  if (rule.padding == Padding::kZeros && !(i >= 0 && i <= static_cast<double>(size - 1))) return -1;
  // Also brings in what is no number.
  return i > 0 ? static_cast<int64_t>(std::min(i, static_cast<double>(size - 1))) : 0;
}

Reads read_axis(const Rule& rule, double grid, int64_t size) {
  const double n = static_cast<double>(size);
  double x = rule.align ? (grid + 1) / 2 * (n - 1) : ((grid + 1) * n - 1) / 2;
  // Far outside all pixels are alike, except by reflection, where a number of this size has no fraction.
  if (!(std::abs(x) < 1e15)) x = x > 0 && rule.padding != Padding::kReflection ? 1e15 : -1;
  Reads reads;
  if (!rule.cubic) {
    if (rule.padding == Padding::kBorder) x = std::clamp(x, 0.0, n - 1);
    if (rule.padding == Padding::kReflection) {
      x = rule.align ? reflect(x, 0, n - 1) : reflect(x, -0.5, n - 0.5);
      x = std::clamp(x, 0.0, n - 1);
    }
  }
  if (rule.nearest) {
    reads.count = 1;
    reads.at[0] = pixel(rule, std::nearbyint(x), size);
    reads.weight[0] = 1;
    return reads;
  }
  const double low = std::floor(x), part = x - low;
  if (!rule.cubic) {
    reads.count = 2;
    for (int i = 0; i < 2; ++i) reads.at[i] = pixel(rule, low + i, size);
    reads.weight[0] = 1 - part;
    reads.weight[1] = part;
    return reads;
  }
  constexpr double kA = -0.75;
  reads.count = 4;
  for (int i = 0; i < 4; ++i) {
    reads.at[i] = pixel(rule, low + i - 1, size);
    const double d = std::abs(part - (i - 1));
    reads.weight[i] = d <= 1 ? ((kA + 2) * d - (kA + 3)) * d * d + 1 : ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA;
  }
  return reads;
}

// All pixels a point reads, with the products of their weights.
struct Spot {
  std::vector<int64_t> at;
  std::vector<double> weight;
};

void combine(const std::vector<Reads>& axes, std::span<const int64_t> sizes, Spot& spot) {
  spot.at.assign(1, 0);
  spot.weight.assign(1, 1);
  std::vector<int64_t> at;
  std::vector<double> weight;
  for (size_t d = 0; d < axes.size(); ++d) {
    at.clear();
    weight.clear();
    for (size_t i = 0; i < spot.at.size(); ++i)
      for (int k = 0; k < axes[d].count; ++k) {
        if (axes[d].at[k] < 0 || axes[d].weight[k] == 0) continue;
        at.push_back(spot.at[i] * sizes[d] + axes[d].at[k]);
        weight.push_back(spot.weight[i] * axes[d].weight[k]);
      }
    spot.at.swap(at);
    spot.weight.swap(weight);
  }
}

Status evaluate_sample(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const TensorView& y = ctx.outputs[0];
  NEREID_TRY(const Rule rule, read_rule(ctx.attrs));
  const std::span<const int64_t> sizes = std::span(x.sizes).subspan(2);
  const int64_t plane = product_of(sizes), channels = x.sizes[1], axes = static_cast<int64_t>(sizes.size());
  const int64_t points = product_of(std::span(y.sizes).subspan(2));
  if (plane == 0 || y.elements() == 0) return Status::ok();
  const Elements<double> grid = load<double>(ctx.inputs[1]);
  const bool numbers = is_float(x.dtype) || is_integer(x.dtype);
  const Elements<double> values = rule.nearest || !numbers ? Elements<double>() : load<double>(x);
  Elements<double> results(rule.nearest ? 0 : y.elements());
  std::vector<Reads> reads(sizes.size());
  Spot spot;
  for (int64_t n = 0; n < x.sizes[0]; ++n)
    for (int64_t p = 0; p < points; ++p) {
      // The grid names the last axis first.
      for (int64_t d = 0; d < axes; ++d)
        reads[static_cast<size_t>(axes - 1 - d)] =
            read_axis(rule, grid[(n * points + p) * axes + d], sizes[static_cast<size_t>(axes - 1 - d)]);
      combine(reads, sizes, spot);
      for (int64_t c = 0; c < channels; ++c) {
        const int64_t to = (n * channels + c) * points + p, from = (n * channels + c) * plane;
        if (rule.nearest) {
          if (!spot.at.empty()) copy_elements(y, to, x, from + spot.at[0], 1);
          continue;
        }
        double sum = 0;
        for (size_t i = 0; i < spot.at.size(); ++i) sum += spot.weight[i] * values[from + spot.at[i]];
        results[to] = sum;
      }
    }
  return rule.nearest ? Status::ok() : store<double>(y, results);
}

Result<std::vector<TensorType>> infer_grid(const InferContext& ctx) {
  ShapeRule rule(ctx, kGridInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(0));
  NEREID_RETURN_IF_ERROR(rule.has_rank(0, 3));
  NEREID_RETURN_IF_ERROR(rule.has_rank(1, 1));
  NEREID_RETURN_IF_ERROR(rule.is_index(1));
  const Dim& rows = rule.dim(0, 1);
  const auto size = known_integers(ctx, 1);
  int64_t axes = rows.is_static()             ? rows.size()
                 : rule.dim(0, 2).is_static() ? rule.dim(0, 2).size() - 1
                 : rule.dim(1, 0).is_static() ? rule.dim(1, 0).size() - 2
                                              : -1;
  if (axes < 0) return std::vector<TensorType>{{rule.type(0).dtype, Shape::unranked()}};
  if (axes != 2 && axes != 3) return invalid_argument("{} should be [n, 2, 3] or [n, 3, 4]", rule.describe(0));
  NEREID_RETURN_IF_ERROR(rule.has_size(0, 1, axes, "the spatial axes"));
  NEREID_RETURN_IF_ERROR(rule.has_size(0, 2, axes + 1, "the spatial axes and one"));
  NEREID_RETURN_IF_ERROR(rule.has_size(1, 0, axes + 2, "batch, channels and the spatial axes"));
  std::vector<Dim> dims = {rule.dim(0, 0)};
  for (int64_t d = 0; d < axes; ++d) {
    if (size && (*size)[static_cast<size_t>(d + 2)] < 0)
      return invalid_argument("size holds {}; it should not be negative", (*size)[static_cast<size_t>(d + 2)]);
    dims.push_back(size ? Dim((*size)[static_cast<size_t>(d + 2)]) : Dim::unknown());
  }
  if (size && !merge(dims[0], Dim((*size)[0])))
    return invalid_argument("size asks for a batch of {}, but {} has {}", (*size)[0], rule.describe(0),
                            dims[0].to_string());
  dims.push_back(Dim(axes));
  return std::vector<TensorType>{{rule.type(0).dtype, Shape(std::move(dims))}};
}

Status evaluate_grid(const EvalContext& ctx) {
  const TensorView& y = ctx.outputs[0];
  const Elements<double> theta = load<double>(ctx.inputs[0]);
  const int64_t axes = y.sizes.back();
  const std::vector<int64_t> sizes(y.sizes.begin() + 1, y.sizes.end() - 1);
  const bool align = ctx.attrs.boolean("align_corners");
  Elements<double> grid(y.elements());
  const int64_t points = product_of(sizes);
  for (int64_t n = 0; n < y.sizes[0]; ++n) {
    Positions position(sizes);
    for (int64_t p = 0; p < points; ++p, position.next()) {
      double base[3] = {};
      for (int64_t d = 0; d < axes; ++d) {
        const size_t axis = static_cast<size_t>(axes - 1 - d);
        const double size = static_cast<double>(sizes[axis]), i = static_cast<double>(position[axis]);
        base[d] = !align ? (2 * i + 1) / size - 1 : sizes[axis] > 1 ? 2 * i / (size - 1) - 1 : 0;
      }
      for (int64_t d = 0; d < axes; ++d) {
        const double* row = theta.data() + (n * axes + d) * (axes + 1);
        double sum = row[axes];
        for (int64_t k = 0; k < axes; ++k) sum += row[k] * base[k];
        grid[(n * points + p) * axes + d] = sum;
      }
    }
  }
  return store<double>(y, grid);
}

}  // namespace

extern constexpr OpDef kAffineGrid = {.name = "affine_grid",
                                      .summary = "grid[n, p] = theta[n] . (p, 1), p from -1 to 1 in each spatial axis",
                                      .inputs = kGridInputs,
                                      .outputs = kGridOutputs,
                                      .attrs = kGridAttrs,
                                      .infer = infer_grid,
                                      .evaluate = evaluate_grid,
                                      .cost = cost_per_element<8>};
extern constexpr OpDef kGridSample = {.name = "grid_sample",
                                      .summary = "y[n, c, p] = x[n, c] at grid[n, p], coordinates from -1 to 1",
                                      .inputs = kSampleInputs,
                                      .outputs = kSampleOutputs,
                                      .attrs = kSampleAttrs,
                                      .infer = infer_sample,
                                      .evaluate = evaluate_sample,
                                      .cost = cost_per_element<8>};

}  // namespace nereid::ops
