// SPDX-License-Identifier: Apache-2.0
// dft: discrete Fourier transforms along one dimension. Real and imaginary parts are the last dimension, of size 2 (1:
// real numbers). With onesided the half of a real signal's spectrum is made, or taken to make a real signal.
#include "ops/elements.h"
#include "ops/fft.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kLength, kAxis };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "dft_length", .optional = true}, {.name = "axis", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {{"inverse", AttrSpec::Kind::kBool, "false", "from a spectrum to a signal"},
                               {"onesided", AttrSpec::Kind::kBool, "false", "half a spectrum of a real signal"}};
constexpr int64_t kMostLength = int64_t{1} << 24;

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 2));
  for (size_t i : {kLength, kAxis}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_index(i));
    if (rule.shape(i).elements().value_or(1) != 1) return invalid_argument("{} should be one number", rule.describe(i));
  }
  const bool inverse = ctx.attrs.boolean("inverse");
  const bool onesided = ctx.attrs.boolean("onesided");
  const Dim& parts = rule.dim(kX, -1);
  if (parts.is_static() && parts != Dim(2) && (parts != Dim(1) || (inverse && onesided)))
    return invalid_argument("the last dimension of {} should be {}", rule.describe(kX),
                            inverse && onesided ? "2: a complex spectrum" : "1 or 2: real or complex numbers");
  if (parts == Dim(2) && onesided && !inverse)
    return invalid_argument("half a spectrum (onesided) is of real signals, but {} is complex", rule.describe(kX));
  TensorType y = rule.type(kX);
  const Dim result_parts(inverse && onesided ? 1 : 2);
  const auto axis = rule.has(kAxis) ? known_integers(ctx, kAxis) : std::vector<int64_t>{-2};
  if (!axis) {
    y.shape = Shape(std::vector<Dim>(static_cast<size_t>(rule.rank(kX)), Dim::unknown()));
    y.shape[rule.rank(kX) - 1] = result_parts;
    return std::vector<TensorType>{y};
  }
  NEREID_RETURN_IF_ERROR(rule.has_axis(kX, (*axis)[0]));
  const int at = static_cast<int>((*axis)[0] < 0 ? (*axis)[0] + rule.rank(kX) : (*axis)[0]);
  if (at == rule.rank(kX) - 1) return invalid_argument("axis {} is that of real and imaginary parts", (*axis)[0]);
  Dim length = y.shape[at];
  if (rule.has(kLength)) {
    const auto given = known_integers(ctx, kLength);
    length = given ? Dim((*given)[0]) : Dim::unknown();
  } else if (inverse && onesided) {
    length = length.is_static() ? Dim(2 * (std::min(length.size(), kMostLength) - 1)) : Dim::unknown();
  }
  if (length.is_static() && (length.size() < 1 || length.size() > kMostLength))
    return invalid_argument("the length of the transform is {} and should be 1 to {}", length.to_string(), kMostLength);
  if (onesided && !inverse) length = length.is_static() ? Dim(length.size() / 2 + 1) : Dim::unknown();
  y.shape[at] = length;
  y.shape[rule.rank(kX) - 1] = result_parts;
  return std::vector<TensorType>{y};
}

Status evaluate(const EvalContext& ctx) {
  const ConstTensorView& x = ctx.inputs[kX];
  const bool inverse = ctx.attrs.boolean("inverse");
  const bool onesided = ctx.attrs.boolean("onesided");
  const int64_t axis = ctx.inputs[kAxis].data != nullptr ? load<int64_t>(ctx.inputs[kAxis])[0] : -2;
  const AxisSteps in = axis_steps(x.sizes, axis);
  const AxisSteps out = axis_steps(ctx.outputs[0].sizes, axis);
  const int64_t parts = x.sizes.back();
  const int64_t out_parts = ctx.outputs[0].sizes.back();
  if (parts == 0) return Status::ok();
  int64_t length = inverse && onesided ? 2 * (in.size - 1) : in.size;
  if (ctx.inputs[kLength].data != nullptr) length = load<int64_t>(ctx.inputs[kLength])[0];
  const Elements<double> from = load<double>(x);
  Elements<double> to(ctx.outputs[0].elements());
  std::vector<std::complex<double>> row(static_cast<size_t>(length));
  // Without the last dimension: real and imaginary parts are neighbours.
  const int64_t inner = in.inner / parts;
  for (int64_t outer = 0; outer < in.outer; ++outer) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto input = [&](int64_t k) -> std::complex<double> {
        if (k >= in.size) return 0;
        const double* v = from.data() + ((outer * in.size + k) * inner + i) * parts;
        return {v[0], parts == 2 ? v[1] : 0.0};
      };
      for (int64_t k = 0; k < length; ++k) {
        const bool mirrored = inverse && onesided && k > length / 2;
        row[static_cast<size_t>(k)] = mirrored ? std::conj(input(length - k)) : input(k);
      }
      fft(row, inverse);
      for (int64_t k = 0; k < out.size; ++k) {
        const std::complex<double> v = row[static_cast<size_t>(k)] / (inverse ? static_cast<double>(length) : 1.0);
        double* y = to.data() + ((outer * out.size + k) * inner + i) * out_parts;
        y[0] = v.real();
        if (out_parts == 2) y[1] = v.imag();
      }
    }
  }
  return store<double>(ctx.outputs[0], to);
}

}  // namespace

extern constexpr OpDef kDft = {.name = "dft",
                               .summary = "y[k] = sum over i of x[i] e^(-2 pi i k / n) along the axis, or its inverse",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attrs = kAttrs,
                               .infer = infer,
                               .evaluate = evaluate};

}  // namespace nereid::ops
