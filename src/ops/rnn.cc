// SPDX-License-Identifier: Apache-2.0
// rnn: h = f(x * w^T + h * r^T + b), step by step (Elman 1990).
#include "ops/recurrent.h"

namespace nereid::ops {
namespace {

constexpr std::span<const ArgSpec> kInputs = std::span(kRecurrentInputs).first(kRecurrentC);
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "y_h"}};
constexpr AttrSpec kAttrs[] = {
    kRecurrentActivationAlpha, kRecurrentActivationBeta, kRecurrentActivations, kRecurrentClip,
    kRecurrentDirection,       kRecurrentHiddenSize,     kRecurrentLayout};
constexpr std::string_view kActivations[] = {"Tanh"};
constexpr RecurrentForm kForm = {.inputs = kInputs, .gates = 1, .activations = kActivations};

void step(const RecurrentCell& cell, const double* gates, double* h, double*) {
  Elements<double> next(cell.hidden);
  for (int64_t j = 0; j < cell.hidden; ++j) next[j] = cell.f[0](gates[j] + cell.recur(j, h));
  for (int64_t j = 0; j < cell.hidden; ++j) h[j] = next[j];
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return infer_recurrent(ctx, kForm);
}
Status evaluate(const EvalContext& ctx) {
  return evaluate_recurrent(ctx, kForm, step);
}

}  // namespace

extern constexpr OpDef kRnn = {.name = "rnn",
                               .summary = "h = f(x * w^T + h * r^T + b), one step after the other",
                               .inputs = kInputs,
                               .outputs = kOutputs,
                               .attrs = kAttrs,
                               .infer = infer,
                               .evaluate = evaluate,
                               .cost = recurrent_cost,
                               .tolerance_f32 = 1e-4};

}  // namespace nereid::ops
