// SPDX-License-Identifier: Apache-2.0
// gated_linear: the first half of a gated feed-forward layer (Shazeer 2020), with the norm before it built in.
#include "ops/activation.h"
#include "ops/normalize.h"
#include "ops/numeric.h"
#include "ops/op.h"
#include "ops/product.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kX, kGate, kUp, kNormWeight };
constexpr ArgSpec kInputs[] = {
    {.name = "x"}, {.name = "w_gate"}, {.name = "w_up"}, {.name = "norm_weight", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "y"}};
constexpr AttrSpec kAttrs[] = {
    {"activation", AttrSpec::Kind::kString, "silu",
     "what the gate goes through: silu, gelu, gelu_tanh, relu, sigmoid, tanh"},
    {"norm_eps", AttrSpec::Kind::kFloat, "1e-05", "rms_norm's eps; used when norm_weight is given"},
};

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_RETURN_IF_ERROR(find_activation(ctx.attrs.text("activation")));
  NEREID_RETURN_IF_ERROR(rule.is_activation(kX));
  NEREID_RETURN_IF_ERROR(rule.has_rank_at_least(kX, 1));
  for (size_t i : {kGate, kUp}) {
    NEREID_RETURN_IF_ERROR(rule.is_weight(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, i, 1));
  }
  NEREID_RETURN_IF_ERROR(rule.agree(kGate, 0, kUp, 0));
  if (rule.has(kNormWeight)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kNormWeight));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kNormWeight, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kX, -1, kNormWeight, 0));
  }
  std::vector<Dim> dims = rule.shape(kX).dims();
  dims.back() = rule.dim(kGate, 0);
  return std::vector<TensorType>{{rule.type(kX).dtype, Shape(std::move(dims))}};
}

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Activation* activation, find_activation(ctx.attrs.text("activation")));
  NEREID_TRY(auto x, read_floats(ctx.inputs[kX]));
  NEREID_TRY(auto norm, read_floats(ctx.inputs[kNormWeight]));
  const size_t k = static_cast<size_t>(ctx.inputs[kX].row_elements());
  for (size_t first = 0; first < x.size() && !norm.empty(); first += k)
    rms_normalize(std::span(x).subspan(first, k), norm, ctx.attrs.real("norm_eps"));
  const int64_t width = ctx.outputs[0].row_elements();
  std::vector<double> gate(static_cast<size_t>(ctx.outputs[0].elements()));
  NEREID_RETURN_IF_ERROR(for_each_product(x, ctx.inputs[kGate], [&](int64_t t, int64_t n, double product) {
    gate[static_cast<size_t>(t * width + n)] = activation->function(product);
  }));
  return for_each_product(x, ctx.inputs[kUp], [&](int64_t t, int64_t n, double product) {
    write_float(ctx.outputs[0], t * width + n, static_cast<float>(gate[static_cast<size_t>(t * width + n)] * product));
  });
}

Cost cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost c = traffic(ctx, outputs);
  const Dim& k = ctx.inputs[kGate]->shape[1];
  c.flops = elements_of(outputs[0]) * (4 * static_cast<double>(k.is_static() ? k.size() : 1) + 12);
  if (ctx.inputs[kNormWeight] != nullptr) c.flops += 4 * elements_of(*ctx.inputs[kX]);
  return c;
}

}  // namespace

extern constexpr OpDef kGatedLinear = {.name = "gated_linear",
                                       .summary = "y = activation(n . w_gate^T) * (n . w_up^T), n = rms_norm?(x)",
                                       .inputs = kInputs,
                                       .outputs = kOutputs,
                                       .attrs = kAttrs,
                                       .infer = infer,
                                       .evaluate = evaluate,
                                       .cost = cost};

}  // namespace nereid::ops
