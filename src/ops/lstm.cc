// SPDX-License-Identifier: Apache-2.0
// lstm: long short-term memory with peepholes (Hochreiter, Schmidhuber 1997; Gers, Schmidhuber 2000); gates in the
// order input (i), output (o), forget (f), cell (c).
#include "ops/recurrent.h"

namespace nereid::ops {
namespace {

constexpr std::span<const ArgSpec> kInputs = kRecurrentInputs;
constexpr ArgSpec kOutputs[] = {{.name = "y"}, {.name = "y_h"}, {.name = "y_c"}};
constexpr AttrSpec kAttrs[] = {
    kRecurrentActivationAlpha,
    kRecurrentActivationBeta,
    kRecurrentActivations,
    kRecurrentClip,
    kRecurrentDirection,
    kRecurrentHiddenSize,
    {"input_forget", AttrSpec::Kind::kBool, "false", "what the input gate lets in is forgotten"},
    kRecurrentLayout};
constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh", "Tanh"};
constexpr RecurrentForm kForm = {.inputs = kInputs, .gates = 4, .activations = kActivations, .has_cell = true};

// The bound of `clip` is on what goes into gates; the cell's way out has none, as in onnxruntime.
void step(const RecurrentCell& cell, bool input_forget, const double* gates, double* h, double* c) {
  const int64_t n = cell.hidden;
  Elements<double> next(n);
  RecurrentActivation way_out = cell.f[2];
  way_out.clip = 0;
  const auto peep = [&](int64_t gate, int64_t j) { return cell.p != nullptr ? cell.p[gate * n + j] * c[j] : 0.0; };
  for (int64_t j = 0; j < n; ++j) {
    const auto sum = [&](int64_t gate) { return gates[gate * n + j] + cell.recur(gate * n + j, h); };
    const double input = cell.f[0](sum(0) + peep(0, j));
    const double forget = input_forget ? 1 - input : cell.f[0](sum(2) + peep(2, j));
    c[j] = forget * c[j] + input * cell.f[1](sum(3));
    next[j] = cell.f[0](sum(1) + peep(1, j)) * way_out(c[j]);
  }
  for (int64_t j = 0; j < n; ++j) h[j] = next[j];
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  return infer_recurrent(ctx, kForm);
}
Status evaluate(const EvalContext& ctx) {
  const bool input_forget = ctx.attrs.boolean("input_forget");
  return evaluate_recurrent(ctx, kForm, [=](const RecurrentCell& cell, const double* gates, double* h, double* c) {
    step(cell, input_forget, gates, h, c);
  });
}

}  // namespace

extern constexpr OpDef kLstm = {
    .name = "lstm",
    .summary = "c = f * c + i * g(x * w^T + h * r^T + b), h = o * g(c), one step after the other",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .cost = recurrent_cost,
    .tolerance_f32 = 1e-4};

}  // namespace nereid::ops
