// SPDX-License-Identifier: Apache-2.0
// resize: a tensor of any rank resampled to other sizes.
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/resample.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "x"},
                               {.name = "roi", .optional = true},
                               {.name = "scales", .optional = true},
                               {.name = "sizes", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"antialias", AttrSpec::Kind::kBool, "false", "whether filters widen when sizes shrink"},
    {"axes", AttrSpec::Kind::kInts, "[]", "the dimensions that roi, scales and sizes speak of; empty: all"},
    {"coordinate_transformation_mode", AttrSpec::Kind::kString, "half_pixel",
     "half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn or "
     "tf_crop_and_resize"},
    {"cubic_coeff_a", AttrSpec::Kind::kFloat, "-0.75", "the cubic filter's parameter"},
    {"exclude_outside", AttrSpec::Kind::kBool, "false", "whether positions outside have no weight (else the edge's)"},
    {"extrapolation_value", AttrSpec::Kind::kFloat, "0.0", "what tf_crop_and_resize gives outside"},
    {"keep_aspect_ratio_policy", AttrSpec::Kind::kString, "stretch",
     "how sizes are meant: stretch, not_larger or not_smaller"},
    {"mode", AttrSpec::Kind::kString, "nearest", "nearest, linear or cubic"},
    {"nearest_mode", AttrSpec::Kind::kString, "round_prefer_floor",
     "round_prefer_floor, round_prefer_ceil, floor or ceil"}};

Result<ResampleRule> read_rule(const Attrs& attrs) {
  ResampleRule rule;
  NEREID_TRY(rule.mode, resize_mode(attrs.text("mode")));
  NEREID_TRY(rule.coordinates, resize_coordinates(attrs.text("coordinate_transformation_mode")));
  NEREID_TRY(rule.nearest, resize_nearest(attrs.text("nearest_mode")));
  rule.cubic_a = attrs.real("cubic_coeff_a");
  rule.exclude_outside = attrs.boolean("exclude_outside");
  rule.antialias = attrs.boolean("antialias");
  const std::string& policy = attrs.text("keep_aspect_ratio_policy");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return invalid_argument("keep_aspect_ratio_policy is '{}'; it should be stretch, not_larger or not_smaller",
                            policy);
  return rule;
}

// The dimensions that the inputs speak of, from 0 on.
Result<std::vector<size_t>> read_axes(const Attrs& attrs, int rank) {
  std::vector<size_t> axes;
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  for (int64_t axis : attrs.integers("axes")) {
    if (axis < -rank || axis >= rank) return invalid_argument("axes holds {}, but x has {} dimensions", axis, rank);
    const size_t d = static_cast<size_t>(axis < 0 ? axis + rank : axis);
    if (seen[d]) return invalid_argument("axes names dimension {} twice", d);
    seen[d] = true;
    axes.push_back(d);
  }
  if (axes.empty())
    for (size_t d = 0; d < static_cast<size_t>(rank); ++d) axes.push_back(d);
  return axes;
}

constexpr double kMostElements = 1e15;

// One a dimension of x; in and out of -1 where not known.
struct Plan {
  std::vector<ResampleAxis> axes;
};

Status apply_scales(const std::vector<size_t>& axes, const Elements<float>& scales, Plan& plan) {
  if (scales.size() != static_cast<int64_t>(axes.size()))
    return invalid_argument("scales has {} numbers and should have {}", scales.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    ResampleAxis& a = plan.axes[axes[i]];
    a.scale = scales[static_cast<int64_t>(i)];
    if (!(a.scale > 0) || std::isinf(a.scale))
      return invalid_argument("scales holds {}; it should be positive", a.scale);
    a.out = -1;
    if (a.in < 0) continue;
    double size = static_cast<double>(a.in) * static_cast<double>(a.scale);
    // A product in f32, as scales are f32: 5 * 0.6 is 3.
    a.size = static_cast<float>(size);
    size = static_cast<double>(std::floor(static_cast<float>(size)));
    if (!(size >= 0 && size < kMostElements))
      return invalid_argument("the scale {} of dimension {} asks for {} positions", a.scale, axes[i], size);
    a.out = static_cast<int64_t>(size);
  }
  return Status::ok();
}

Status apply_sizes(const std::vector<size_t>& axes, const std::vector<int64_t>& sizes, const std::string& policy,
                   Plan& plan) {
  if (sizes.size() != axes.size())
    return invalid_argument("sizes has {} numbers and should have {}", sizes.size(), axes.size());
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResampleAxis& a = plan.axes[axes[i]];
    if (sizes[i] < 0 || static_cast<double>(sizes[i]) > kMostElements)
      return invalid_argument("sizes holds {}; it should not be negative or too large", sizes[i]);
    if (a.in == 0 && sizes[i] > 0)
      return invalid_argument("dimension {} of x is empty and cannot become {}", axes[i], sizes[i]);
    a.out = sizes[i];
    const double ratio = a.in > 0 ? static_cast<double>(sizes[i]) / static_cast<double>(a.in) : 1;
    a.scale = static_cast<float>(ratio);
    common = i == 0 ? ratio : policy == "not_larger" ? std::min(common, ratio) : std::max(common, ratio);
  }
  if (policy == "stretch") return Status::ok();
  // All sizes by the one scale that keeps within (or above) what is asked for.
  bool known = true;
  for (size_t d : axes) known &= plan.axes[d].in >= 0;
  for (size_t d : axes) {
    ResampleAxis& a = plan.axes[d];
    a.scale = static_cast<float>(common);
    a.out = known ? static_cast<int64_t>(std::floor(common * static_cast<double>(a.in) + 0.5)) : -1;
  }
  return Status::ok();
}

bool given(const ConstTensorView* view) {
  return view != nullptr && view->data != nullptr && view->elements() > 0;
}

// Sizes of x (-1: not known) and the values of the other inputs to where each dimension reads.
Result<Plan> make_plan(const Attrs& attrs, const std::vector<int64_t>& in, const ConstTensorView* roi,
                       const ConstTensorView* scales, const ConstTensorView* sizes) {
  NEREID_TRY(const std::vector<size_t> axes, read_axes(attrs, static_cast<int>(in.size())));
  Plan plan;
  for (int64_t size : in) plan.axes.push_back({.in = size, .out = size});
  const bool crops = attrs.text("coordinate_transformation_mode") == "tf_crop_and_resize";
  if (crops && given(roi)) {
    const Elements<double> shares = load<double>(*roi);
    const int64_t n = static_cast<int64_t>(axes.size());
    if (shares.size() != 2 * n) return invalid_argument("roi has {} numbers and should have {}", shares.size(), 2 * n);
    for (int64_t i = 0; i < n; ++i) {
      plan.axes[axes[static_cast<size_t>(i)]].start = shares[i];
      plan.axes[axes[static_cast<size_t>(i)]].end = shares[n + i];
    }
  }
  if (given(scales) && given(sizes))
    return invalid_argument("both scales and sizes are given, but only one of them can be");
  if (given(scales)) {
    NEREID_RETURN_IF_ERROR(apply_scales(axes, load<float>(*scales), plan));
  } else if (given(sizes)) {
    const Elements<int64_t> v = load<int64_t>(*sizes);
    NEREID_RETURN_IF_ERROR(apply_sizes(axes, {v.begin(), v.end()}, attrs.text("keep_aspect_ratio_policy"), plan));
  } else if (!axes.empty()) {
    return invalid_argument("neither scales nor sizes are given");
  }
  return plan;
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const ResampleRule how, read_rule(ctx.attrs));
  NEREID_TRY(const std::vector<size_t> axes, read_axes(ctx.attrs, rule.rank(0)));
  const DType dtype = rule.type(0).dtype;
  if (is_block_format(dtype) || (how.mode != ResizeMode::kNearest && !is_float(dtype) && !is_integer(dtype)))
    return no_such_elements(dtype);
  bool known = true;
  for (size_t i = 1; i < 4; ++i) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 1));
    if (i == 3 ? !is_integer(rule.type(i).dtype) : !is_float(rule.type(i).dtype))
      return invalid_argument("{} should be {}", rule.describe(i), i == 3 ? "i64" : "of a float type");
    // Only cropping reads the roi.
    if (i == 1 && how.coordinates != ResizeCoordinates::kTfCropAndResize) continue;
    known &= ctx.constants[i] != nullptr;
  }
  std::vector<Dim> dims = rule.shape(0).dims();
  if (!known) {
    for (size_t d : axes) dims[d] = Dim::unknown();
    return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
  }
  std::vector<int64_t> in;
  for (const Dim& d : dims) in.push_back(d.is_static() ? d.size() : -1);
  const auto value = [&](size_t i) { return rule.has(i) ? ctx.constants[i] : nullptr; };
  NEREID_TRY(const Plan plan, make_plan(ctx.attrs, in, value(1), value(2), value(3)));
  for (size_t d = 0; d < dims.size(); ++d) {
    const ResampleAxis& a = plan.axes[d];
    const bool stays = a.out < 0 && a.scale == 1;
    if (!stays) dims[d] = a.out < 0 ? Dim::unknown() : Dim(a.out);
  }
  return std::vector<TensorType>{{dtype, Shape(std::move(dims))}};
}

// Each element is copied: whatever the element type is.
Status copy_nearest(const ConstTensorView& x, const TensorView& y, const std::vector<Samples>& samples) {
  const size_t rank = x.sizes.size();
  if (rank == 0) {
    copy_elements(y, 0, x, 0, 1);
    return Status::ok();
  }
  const int64_t row = y.sizes.back(), in_row = x.sizes.back();
  const bool whole_row = samples.back().is_identity(in_row);
  std::vector<int64_t> at(rank, 0);
  for (int64_t r = 0; r < y.elements() / row; ++r) {
    int64_t source = 0;
    for (size_t d = 0; d + 1 < rank; ++d) source = source * x.sizes[d] + samples[d].at[static_cast<size_t>(at[d])];
    if (whole_row) {
      copy_elements(y, r * row, x, source * in_row, row);
    } else {
      for (int64_t i = 0; i < row; ++i)
        copy_elements(y, r * row + i, x, source * in_row + samples.back().at[static_cast<size_t>(i)], 1);
    }
    for (size_t d = rank - 1; d-- > 0;) {
      if (++at[d] < y.sizes[d]) break;
      at[d] = 0;
    }
  }
  return Status::ok();
}

// One dimension resampled: x [outer, in, inner].
template <typename T>
Elements<T> filter_axis(const Elements<T>& x, const Samples& samples, int64_t outer, int64_t in, int64_t inner) {
  const int64_t out = samples.size();
  Elements<T> y(outer * out * inner, T(0));
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t o = 0; o < out; ++o) {
      T* dst = y.data() + (i * out + o) * inner;
      for (int64_t k = samples.first[static_cast<size_t>(o)]; k < samples.first[static_cast<size_t>(o) + 1]; ++k) {
        const T weight = samples.weights.empty() ? T(1) : static_cast<T>(samples.weights[static_cast<size_t>(k)]);
        const T* src = x.data() + (i * in + samples.at[static_cast<size_t>(k)]) * inner;
        for (int64_t j = 0; j < inner; ++j) dst[j] += weight * src[j];
      }
    }
  return y;
}

template <typename T>
Elements<T> filter_all(const ConstTensorView& x, const Plan& plan, const std::vector<Samples>& samples) {
  Elements<T> values = load<T>(x);
  int64_t inner = 1;
  for (size_t d = plan.axes.size(); d-- > 0;) {
    int64_t outer = 1;
    for (size_t e = 0; e < d; ++e) outer *= plan.axes[e].in;
    if (!samples[d].is_identity(plan.axes[d].in))
      values = filter_axis(values, samples[d], outer, plan.axes[d].in, inner);
    inner *= plan.axes[d].out;
  }
  return values;
}

// Positions of the result that lie outside the input in some dimension get `value`.
template <typename T>
void extrapolate(Elements<T>& y, const std::vector<Samples>& samples, T value) {
  int64_t inner = 1;
  for (size_t d = samples.size(); d-- > 0;) {
    const int64_t out = samples[d].size();
    for (int64_t o = 0; o < out; ++o) {
      if (!samples[d].is_outside(o)) continue;
      for (int64_t i = o * inner; i < y.size(); i += out * inner) std::fill_n(y.data() + i, inner, value);
    }
    inner *= out;
  }
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[0];
  const TensorView& y = ctx.outputs[0];
  NEREID_TRY(const ResampleRule rule, read_rule(ctx.attrs));
  NEREID_TRY(const Plan plan, make_plan(ctx.attrs, x.sizes, &ctx.inputs[1], &ctx.inputs[2], &ctx.inputs[3]));
  if (y.elements() == 0) return Status::ok();
  std::vector<Samples> samples;
  for (const ResampleAxis& a : plan.axes) samples.push_back(resample(rule, a));
  bool outside = false;
  for (const Samples& s : samples) outside |= std::ranges::find(s.outside, true) != s.outside.end();
  if (rule.mode == ResizeMode::kNearest && !outside) return copy_nearest(x, y, samples);
  // Integers of more than 24 bits need f64.
  const DType compute = is_float(x.dtype) ? x.dtype : DType::f64;
  return with_float(compute, [&]<typename T>() {
    Elements<T> values = filter_all<T>(x, plan, samples);
    if (outside) extrapolate(values, samples, static_cast<T>(ctx.attrs.real("extrapolation_value")));
    return store<T>(y, values);
  });
}

}  // namespace

extern constexpr OpDef kResize = {.name = "resize",
                                  .summary = "y = x resampled to sizes, or to its sizes times scales",
                                  .inputs = kInputs,
                                  .outputs = kOutputs,
                                  .attrs = kAttrs,
                                  .infer = infer,
                                  .evaluate = evaluate,
                                  .cost = cost_per_element<8>};

}  // namespace nereid::ops
