// SPDX-License-Identifier: Apache-2.0
// mel_weight_matrix: triangles that gather the bins of a spectrum into bands of equal width on the mel scale
// (Stevens, Volkmann, Newman 1937): mel = 2595 log10(1 + hertz / 700).
#include <algorithm>
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kBands, kLength, kRate, kLower, kUpper };
constexpr ArgSpec kInputs[] = {{.name = "num_mel_bins"},
                               {.name = "dft_length"},
                               {.name = "sample_rate"},
                               {.name = "lower_edge_hertz"},
                               {.name = "upper_edge_hertz"}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"dtype", AttrSpec::Kind::kString, "f32", "the type of the result"}};

DType dtype_of(const InferContext& ctx, size_t) {
  return dtype_from_name(ctx.attrs.text("dtype")).value_or(DType::f32);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  for (size_t i : {kBands, kLength, kRate, kLower, kUpper}) {
    NEREID_RETURN_IF_ERROR(i < kLower ? rule.is_index(i) : rule.is_activation(i));
    if (rule.shape(i).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(i));
  }
  const auto dtype = dtype_from_name(ctx.attrs.text("dtype"));
  if (!dtype || (!is_float(*dtype) && !is_integer(*dtype)))
    return invalid_argument("weights are numbers, not elements of type '{}'", ctx.attrs.text("dtype"));
  Dim sizes[] = {Dim::unknown(), Dim::unknown()};
  for (size_t i : {kBands, kLength, kRate}) {
    const auto value = known_integers(ctx, i);
    if (!value) continue;
    if ((*value)[0] < (i == kRate ? 1 : 0) || (*value)[0] > int64_t{1} << 40)
      return invalid_argument("{} is {}, which makes no sense", kInputs[i].name, (*value)[0]);
    if (i == kBands) sizes[1] = Dim((*value)[0]);
    if (i == kLength) sizes[0] = Dim((*value)[0] / 2 + 1);
  }
  return std::vector<TensorType>{{*dtype, {sizes[0], sizes[1]}}};
}

Status evaluate(const EvalContext& ctx) {
  const int64_t bins = ctx.outputs[0].sizes[0];
  const int64_t bands = ctx.outputs[0].sizes[1];
  const auto number = [&](size_t i) { return load<double>(ctx.inputs[i])[0]; };
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double low = mel(number(kLower));
  const double step = (mel(number(kUpper)) - low) / static_cast<double>(bands + 2);
  // The bin of each edge; edges outside of the spectrum stay outside.
  const auto edge = [&](int64_t i) -> int64_t {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    const double bin = std::floor((number(kLength) + 1) * hertz / number(kRate));
    return static_cast<int64_t>(std::clamp(std::isnan(bin) ? -1.0 : bin, -1.0, static_cast<double>(bins)));
  };
  Elements<double> y(bins * bands);
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t lower = edge(band), center = edge(band + 1), upper = edge(band + 2);
    const auto set = [&](int64_t bin, double weight) {
      if (bin >= 0 && bin < bins) y[bin * bands + band] = weight;
    };
    if (center == lower) set(center, 1);
    for (int64_t bin = lower; bin <= center && center > lower; ++bin)
      set(bin, static_cast<double>(bin - lower) / static_cast<double>(center - lower));
    for (int64_t bin = center; bin < upper; ++bin)
      set(bin, static_cast<double>(upper - bin) / static_cast<double>(upper - center));
  }
  return store<double>(ctx.outputs[0], y);
}

}  // namespace

extern constexpr OpDef kMelWeightMatrix = {
    .name = "mel_weight_matrix",
    .summary = "y[bin, band] = weight of a spectrum's bin in a band of the mel scale",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
