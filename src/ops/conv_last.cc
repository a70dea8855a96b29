// SPDX-License-Identifier: Apache-2.0
// conv_last and conv_transpose_last: convolutions of channels-last images, with bias, residual and activation built in.
#include "ops/channels_last.h"
#include "ops/epilogue.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kW, kBias, kResidual };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}, {.name = "residual", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAutoPad = {"auto_pad", AttrSpec::Kind::kString, "NOTSET",
                               "NOTSET (pads), SAME_UPPER, SAME_LOWER or VALID"};
constexpr AttrSpec kDilations = {"dilations", AttrSpec::Kind::kInts, "[]",
                                 "distance of taps, one a spatial axis; empty: 1"};
constexpr AttrSpec kGroup = {"group", AttrSpec::Kind::kInt, "1", "groups of channels that do not mix"};
constexpr AttrSpec kKernelShape = {"kernel_shape", AttrSpec::Kind::kInts, "[]",
                                   "spatial sizes of w; empty: as w has them"};
constexpr AttrSpec kStrides = {"strides", AttrSpec::Kind::kInts, "[]", "steps, one a spatial axis; empty: 1"};
constexpr AttrSpec kAttrs[] = {kEpilogueActivation,
                               kEpilogueAlpha,
                               kAutoPad,
                               kEpilogueBeta,
                               kDilations,
                               kGroup,
                               kKernelShape,
                               {"pads", AttrSpec::Kind::kInts, "[]", "padding: all begins, then all ends; empty: 0"},
                               kEpilogueResidualLast,
                               kStrides};
constexpr AttrSpec kTransposeAttrs[] = {
    kEpilogueActivation,
    kEpilogueAlpha,
    kAutoPad,
    kEpilogueBeta,
    kDilations,
    kGroup,
    kKernelShape,
    {"output_padding", AttrSpec::Kind::kInts, "[]", "positions added at the end, one a spatial axis; empty: 0"},
    {"output_shape", AttrSpec::Kind::kInts, "[]",
     "spatial sizes of y, from which the padding follows; empty: not given"},
    {"pads", AttrSpec::Kind::kInts, "[]", "what is cut off: all begins, then all ends; empty: 0"},
    kEpilogueResidualLast,
    kStrides};

// The names of the channels-first ops; types, so that they can be arguments of templates.
struct Conv {
  static constexpr std::string_view kName = "conv";
};
struct ConvTranspose {
  static constexpr std::string_view kName = "conv_transpose";
};

template <typename Op>
Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(auto results, infer_as(Op::kName, ctx, 3));
  NEREID_RETURN_IF_ERROR(check_epilogue(ctx, rule, kResidual, results[0]));
  return results;
}

template <typename Op>
Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Tensor y, run_as(Op::kName, ctx, 3));  // with the bias
  Elements<double> sums = load<double>(std::as_const(y).view());
  NEREID_RETURN_IF_ERROR(apply_epilogue(ctx.attrs, {}, ctx.inputs[kResidual], sums, y.sizes.back()));
  return store<double>(ctx.outputs[0], sums);
}

// Each weight but those of the other output channels is used once for each element of `moved`.
double flops(const InferContext& ctx, const TensorType& moved) {
  double work = 2;
  const Shape& w = ctx.inputs[kW]->shape;
  for (int d = 1; d < w.rank(); ++d) work *= w[d].is_static() ? static_cast<double>(w[d].size()) : 1;
  return work * elements_of(moved);
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  c.flops = flops(ctx, outputs[0]);
  return c;
}
Cost cost_transpose(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  c.flops = flops(ctx, *ctx.inputs[kX]);
  return c;
}

}  // namespace

extern constexpr OpDef kConvLast = {
    .name = "conv_last",
    .summary = "conv of channels-last images [N, spatial..., C]; y = activation(conv + bias + residual)",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer<Conv>,
    .evaluate = evaluate<Conv>,
    .cost = cost};

extern constexpr OpDef kConvTransposeLast = {
    .name = "conv_transpose_last",
    .summary = "conv_transpose of channels-last images [N, spatial..., C]; y = activation(it + bias + residual)",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kTransposeAttrs,
    .infer = infer<ConvTranspose>,
    .evaluate = evaluate<ConvTranspose>,
    .cost = cost_transpose};

}  // namespace nereid::ops
