// SPDX-License-Identifier: Apache-2.0
// gru: gated recurrent units (Cho et al. 2014); gates in the order update (z), reset (r), hidden (h).
#include "ops/recurrent.h"

namespace nereid::ops {
namespace {

constexpr std::span<const ArgSpec> kInputs = std::span(kRecurrentInputs).first(kRecurrentC);
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "y_h"}};
constexpr AttrSpec kAttrs[] = {
    kRecurrentActivationAlpha,
    kRecurrentActivationBeta,
    kRecurrentActivations,
    kRecurrentClip,
    kRecurrentDirection,
    kRecurrentHiddenSize,
    kRecurrentLayout,
    {"linear_before_reset", AttrSpec::Kind::kBool, "false", "the reset gate scales h * r^T + b rather than h"}};
constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh"};
constexpr RecurrentForm kForm = {.inputs = kInputs, .gates = 3, .activations = kActivations};

void step(const RecurrentCell& cell, bool linear_before_reset, const double* gates, double* h) {
  const int64_t n = cell.hidden;
  Elements<double> reset(n), scaled(n), next(n);
  for (int64_t j = 0; j < n; ++j) {
    reset[j] = cell.f[0](gates[n + j] + cell.recur(n + j, h));
    scaled[j] = reset[j] * h[j];
  }
  for (int64_t j = 0; j < n; ++j) {
    const double update = cell.f[0](gates[j] + cell.recur(j, h));
    const double past =
        linear_before_reset ? reset[j] * cell.recur(2 * n + j, h) : cell.recur(2 * n + j, scaled.data());
    next[j] = (1 - update) * cell.f[1](gates[2 * n + j] + past) + update * h[j];
  }
  for (int64_t j = 0; j < n; ++j) h[j] = next[j];
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return infer_recurrent(ctx, kForm);
}
Status evaluate(const EvalContext& ctx) {
  const bool linear_before_reset = ctx.attrs.boolean("linear_before_reset");
  return evaluate_recurrent(ctx, kForm, [=](const RecurrentCell& cell, const double* gates, double* h, double*) {
    step(cell, linear_before_reset, gates, h);
  });
}

}  // namespace

extern constexpr OpDef kGru = {
    .name = "gru",
    .summary = "h = (1 - z) * g(x * w^T + (r * h) * r^T + b) + z * h, one step after the other",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = recurrent_cost,
    .tolerance_f32 = 1e-4};

}  // namespace nereid::ops
