// SPDX-License-Identifier: Apache-2.0
// blackman_window, hamming_window, hann_window: sums of cosines that fade a piece of a signal in and out (Harris 1978).
#include <cmath>
#include <numbers>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

constexpr ArgSpec kInputs[] = {{.name = "size"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"dtype", AttrSpec::Kind::kString, "f32", "the type of the result"},
    {"periodic", AttrSpec::Kind::kBool, "true", "the window would repeat after `size`, else it is symmetric"}};

DType dtype_of(const InferContext& ctx, size_t) {
  return dtype_from_name(ctx.attrs.text("dtype")).value_or(DType::f32);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_index(0));
  if (rule.shape(0).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(0));
  const auto dtype = dtype_from_name(ctx.attrs.text("dtype"));
  if (!dtype || (!is_float(*dtype) && !is_integer(*dtype)))
    return invalid_argument("a window has numbers, not elements of type '{}'", ctx.attrs.text("dtype"));
  const auto size = known_integers(ctx, 0);
  if (size && (*size)[0] < 0) return invalid_argument("the size of the window is {}", (*size)[0]);
  return std::vector<TensorType>{{*dtype, {size ? Dim((*size)[0]) : Dim::unknown()}}};
}

// a - b cos(t) + c cos(2 t), t from 0 to 2 pi.
struct Blackman {
  static constexpr double kA = 0.42, kB = 0.5, kC = 0.08;
};
struct Hamming {
  static constexpr double kA = 25.0 / 46.0, kB = 21.0 / 46.0, kC = 0;
};
struct Hann {
  static constexpr double kA = 0.5, kB = 0.5, kC = 0;
};

template <typename W>
Status evaluate(const EvalContext& ctx) {
  Elements<double> y(ctx.outputs[0].elements());
  const int64_t period = ctx.attrs.boolean("periodic") ? y.size() : y.size() - 1;
  for (int64_t i = 0; i < y.size(); ++i) {
    const double t = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(period);
    y[i] = period == 0 ? 1 : W::kA - W::kB * std::cos(t) + W::kC * std::cos(2 * t);
  }
  return store<double>(ctx.outputs[0], y);
}

template <typename W>
constexpr OpDef window(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs = kInputs,
          .outputs = kOutputs,
          .attrs = kAttrs,
          .infer = infer,
          .evaluate = evaluate<W>,
          .dtype_of = dtype_of};
}

}  // namespace

extern constexpr OpDef kBlackmanWindow =
    window<Blackman>("blackman_window", "y = 0.42 - 0.5 cos t + 0.08 cos 2t, t from 0 to 2 pi");
extern constexpr OpDef kHammingWindow = window<Hamming>("hamming_window", "y = 25/46 - 21/46 cos t, t from 0 to 2 pi");
extern constexpr OpDef kHannWindow = window<Hann>("hann_window", "y = 0.5 - 0.5 cos t, t from 0 to 2 pi");

}  // namespace nereid::ops
