// SPDX-License-Identifier: Apache-2.0
// conv_last and conv_transpose_last: convolutions of channels-last images, with bias, residual and activation built in.
#include "ops/channels_last.h"
#include "ops/convolution.h"
#include "ops/epilogue.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kW, kBias, kResidual };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "w"}, {.name = "bias", .optional = true}, {.name = "residual", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    kEpilogueActivation, kEpilogueAlpha,   kWindowAutoPad, kEpilogueBeta,      kWindowDilations,
    kConvGroup,          kConvKernelShape, kWindowPads,    kEpiloguePrecision, kEpilogueResidualLast,
    kEpilogueScale,      kEpilogueShift,   kWindowStrides};
constexpr AttrSpec kTransposeAttrs[] = {kEpilogueActivation, kEpilogueAlpha, kWindowAutoPad,        kEpilogueBeta,
                                        kWindowDilations,    kConvGroup,     kConvKernelShape,      kConvOutputPadding,
                                        kConvOutputShape,    kConvCut,       kEpilogueResidualLast, kEpilogueScale,
                                        kEpilogueShift,      kWindowStrides};

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

}  // namespace

extern constexpr OpDef kConvLast = {
    .name = "conv_last",
    .summary = "conv of channels-last images [N, spatial..., C]; y = scale activation(conv + bias + residual) + shift",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer<Conv>,
    .evaluate = evaluate<Conv>,
    .cost = conv_cost};

extern constexpr OpDef kConvTransposeLast = {
    .name = "conv_transpose_last",
    .summary =
        "conv_transpose of channels-last images [N, spatial..., C]; y = scale activation(it + bias + residual) + shift",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kTransposeAttrs,
    .infer = infer<ConvTranspose>,
    .evaluate = evaluate<ConvTranspose>,
    .cost = conv_transpose_cost};

}  // namespace nereid::ops
