// SPDX-License-Identifier: Apache-2.0
// The shape rule of recurrent ops and their walk over directions, samples and steps.
#include "ops/recurrent.h"

#include <algorithm>
#include <cmath>

#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

using Kind = RecurrentActivation::Kind;

struct ActivationRow {
  std::string_view name;
  Kind kind;
  bool has_alpha, has_beta;
  double alpha, beta;
};
constexpr ActivationRow kActivations[] = {
    {"affine", Kind::kAffine, true, true, 1, 0},
    {"elu", Kind::kElu, true, false, 1, 0},
    {"hardsigmoid", Kind::kHardSigmoid, true, true, 0.2, 0.5},
    {"leakyrelu", Kind::kLeakyRelu, true, false, 0.01, 0},
    {"relu", Kind::kRelu, false, false, 0, 0},
    {"scaledtanh", Kind::kScaledTanh, true, true, 1, 1},
    {"sigmoid", Kind::kSigmoid, false, false, 0, 0},
    {"softplus", Kind::kSoftplus, false, false, 0, 0},
    {"softsign", Kind::kSoftsign, false, false, 0, 0},
    {"tanh", Kind::kTanh, false, false, 0, 0},
    {"thresholdedrelu", Kind::kThresholdedRelu, true, false, 1, 0},
};

Result<int64_t> directions_of(const Attrs& attrs) {
  const std::string& direction = attrs.text("direction");
  if (direction == "forward" || direction == "reverse") return 1;
  if (direction == "bidirectional") return 2;
  return invalid_argument("the direction is '{}' and should be forward, reverse or bidirectional", direction);
}

Result<std::vector<RecurrentActivation>> activations_of(const Attrs& attrs, const RecurrentForm& form,
                                                        int64_t directions) {
  std::vector<std::string> names = attrs.texts("activations");
  const size_t wanted = form.activations.size() * static_cast<size_t>(directions);
  if (names.empty())
    for (int64_t d = 0; d < directions; ++d)
      names.insert(names.end(), form.activations.begin(), form.activations.end());
  if (names.size() != wanted)
    return invalid_argument("there are {} activations and should be {}", names.size(), wanted);
  const std::vector<double>& alphas = attrs.reals("activation_alpha");
  const std::vector<double>& betas = attrs.reals("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<RecurrentActivation> result;
  for (std::string name : names) {
    for (char& c : name) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    const auto row = std::ranges::find(kActivations, std::string_view(name), &ActivationRow::name);
    if (row == std::end(kActivations)) return invalid_argument("there is no activation '{}' for gates", name);
    RecurrentActivation f{.kind = row->kind, .alpha = row->alpha, .beta = row->beta, .clip = attrs.real("clip")};
    if (row->has_alpha && next_alpha < alphas.size()) f.alpha = alphas[next_alpha++];
    if (row->has_beta && next_beta < betas.size()) f.beta = betas[next_beta++];
    result.push_back(f);
  }
  return result;
}

Elements<double> load_if(const ConstTensorView& view) {
  return view.data != nullptr ? load<double>(view) : Elements<double>();
}

// Where the numbers of one run stand.
struct Sizes {
  int64_t directions, steps, samples, inputs, hidden, gates;
  bool samples_first;

  int64_t x(int64_t t, int64_t n) const { return (samples_first ? n * steps + t : t * samples + n) * inputs; }
  int64_t y(int64_t t, int64_t d, int64_t n) const {
    return (samples_first ? (n * steps + t) * directions + d : (t * directions + d) * samples + n) * hidden;
  }
  int64_t state(int64_t d, int64_t n) const { return (samples_first ? n * directions + d : d * samples + n) * hidden; }
};

Result<std::vector<int64_t>> lengths_of(const ConstTensorView& lens, const Sizes& sizes) {
  std::vector<int64_t> lengths(static_cast<size_t>(sizes.samples), sizes.steps);
  if (lens.data == nullptr) return lengths;
  const Elements<int64_t> given = load<int64_t>(lens);
  for (size_t n = 0; n < lengths.size(); ++n) {
    lengths[n] = given[static_cast<int64_t>(n)];
    if (lengths[n] < 0 || lengths[n] > sizes.steps)
      return invalid_argument("sample {} has {} steps of {}", n, lengths[n], sizes.steps);
  }
  return lengths;
}

}  // namespace

double RecurrentActivation::operator()(double x) const {
  if (clip > 0) x = std::clamp(x, -clip, clip);
  switch (kind) {
    case Kind::kAffine:
      return alpha * x + beta;
    case Kind::kElu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case Kind::kHardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case Kind::kLeakyRelu:
      return x >= 0 ? x : alpha * x;
    case Kind::kRelu:
      return std::max(x, 0.0);
    case Kind::kScaledTanh:
      return alpha * std::tanh(beta * x);
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kSoftplus:
      return x > 30 ? x : std::log1p(std::exp(x));
    case Kind::kSoftsign:
      return x / (1 + std::fabs(x));
    case Kind::kTanh:
      return std::tanh(x);
    case Kind::kThresholdedRelu:
      return x >= alpha ? x : 0;
  }
  return x;
}

double RecurrentCell::recur(int64_t row, const double* h) const {
  double sum = rb != nullptr ? rb[row] : 0;
  for (int64_t k = 0; k < hidden; ++k) sum += r[row * hidden + k] * h[k];
  return sum;
}

Result<std::vector<TensorType>> infer_recurrent(const InferContext& ctx, const RecurrentForm& form) {
  ShapeRule rule(ctx, form.inputs);
  const bool samples_first = ctx.attrs.integer("layout") != 0;
  NEREID_TRY(const int64_t directions, directions_of(ctx.attrs));
  NEREID_RETURN_IF_ERROR(activations_of(ctx.attrs, form, directions));
  for (size_t i : {kRecurrentX, kRecurrentW, kRecurrentR}) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 3));
  }
  for (size_t i = kRecurrentW; i < form.inputs.size(); ++i)
    if (rule.has(i) && i != kRecurrentLens && rule.type(i).dtype != rule.type(kRecurrentX).dtype)
      return invalid_argument("{} and {} should have one element type", rule.describe(kRecurrentX), rule.describe(i));
  const int samples = samples_first ? 0 : 1;  // the dimension of x
  Dim hidden = rule.dim(kRecurrentR, 2);
  if (const int64_t wanted = ctx.attrs.integer("hidden_size"); wanted > 0) {
    NEREID_RETURN_IF_ERROR(rule.has_size(kRecurrentR, 2, wanted, "the hidden size"));
    hidden = Dim(wanted);
  }
  NEREID_RETURN_IF_ERROR(rule.agree(kRecurrentX, 2, kRecurrentW, 2));
  // Dimension d of input i is `times` the hidden size.
  const auto has_units = [&](size_t i, int d, int64_t times) -> Status {
    if (!rule.has(i) || !hidden.is_static()) return Status::ok();
    int64_t size = 0;
    if (__builtin_mul_overflow(hidden.size(), times, &size)) return invalid_argument("the hidden size is too large");
    return rule.has_size(i, d, size, fmt::format("{} times the hidden size", times));
  };
  for (size_t i : {kRecurrentW, kRecurrentR}) NEREID_RETURN_IF_ERROR(has_units(i, 1, form.gates));
  for (size_t i : {kRecurrentB, kRecurrentP})
    if (rule.has(i)) NEREID_RETURN_IF_ERROR(rule.has_rank(i, 2));
  NEREID_RETURN_IF_ERROR(has_units(kRecurrentB, 1, 2 * form.gates));
  NEREID_RETURN_IF_ERROR(has_units(kRecurrentP, 1, 3));
  for (size_t i : {kRecurrentW, kRecurrentR, kRecurrentB, kRecurrentP})
    if (rule.has(i)) NEREID_RETURN_IF_ERROR(rule.has_size(i, 0, directions, "the number of directions"));
  if (rule.has(kRecurrentLens)) {
    NEREID_RETURN_IF_ERROR(rule.is_index(kRecurrentLens));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kRecurrentLens, 1));
    NEREID_RETURN_IF_ERROR(rule.agree(kRecurrentX, samples, kRecurrentLens, 0));
  }
  for (size_t i : {kRecurrentH, kRecurrentC}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 3));
    NEREID_RETURN_IF_ERROR(rule.has_size(i, samples_first ? 1 : 0, directions, "the number of directions"));
    NEREID_RETURN_IF_ERROR(rule.agree(kRecurrentX, samples, i, samples_first ? 0 : 1));
    NEREID_RETURN_IF_ERROR(has_units(i, 2, 1));
  }
  const Dim& steps = rule.dim(kRecurrentX, samples_first ? 1 : 0);
  const Dim& count = rule.dim(kRecurrentX, samples);
  const DType dtype = rule.type(kRecurrentX).dtype;
  const TensorType state{dtype,
                         samples_first ? Shape{count, Dim(directions), hidden} : Shape{Dim(directions), count, hidden}};
  const Shape all =
      samples_first ? Shape{count, steps, Dim(directions), hidden} : Shape{steps, Dim(directions), count, hidden};
  std::vector<TensorType> results{{dtype, all}, state};
  if (form.has_cell) results.push_back(state);
  return results;
}

Status evaluate_recurrent(const EvalContext& ctx, const RecurrentForm& form, const RecurrentStep& step) {
  const std::vector<int64_t>& x_sizes = ctx.inputs[kRecurrentX].sizes;
  const bool samples_first = ctx.attrs.integer("layout") != 0;
  NEREID_TRY(const int64_t directions, directions_of(ctx.attrs));
  const Sizes at{.directions = directions,
                 .steps = x_sizes[samples_first ? 1 : 0],
                 .samples = x_sizes[samples_first ? 0 : 1],
                 .inputs = x_sizes[2],
                 .hidden = ctx.inputs[kRecurrentR].sizes[2],
                 .gates = form.gates,
                 .samples_first = samples_first};
  NEREID_TRY(const auto activations, activations_of(ctx.attrs, form, directions));
  NEREID_TRY(const auto lengths, lengths_of(ctx.inputs[kRecurrentLens], at));
  const int64_t rows = at.gates * at.hidden;
  const Elements<double> x = load<double>(ctx.inputs[kRecurrentX]);
  const Elements<double> w = load<double>(ctx.inputs[kRecurrentW]);
  const Elements<double> r = load<double>(ctx.inputs[kRecurrentR]);
  const Elements<double> b = load_if(ctx.inputs[kRecurrentB]);
  const Elements<double> p = form.has_cell ? load_if(ctx.inputs[kRecurrentP]) : Elements<double>();
  Elements<double> h = load_if(ctx.inputs[kRecurrentH]);
  Elements<double> c = form.has_cell ? load_if(ctx.inputs[kRecurrentC]) : Elements<double>();
  const int64_t states = at.directions * at.samples * at.hidden;
  if (h.size() == 0) h = Elements<double>(states);
  if (c.size() == 0) c = Elements<double>(states);
  Elements<double> y(ctx.outputs[0].elements());
  Elements<double> gates(rows);
  for (int64_t d = 0; d < directions; ++d) {
    const bool reverse = d == 1 || ctx.attrs.text("direction") == "reverse";
    const double* wb = b.size() > 0 ? b.data() + d * 2 * rows : nullptr;
    const RecurrentCell cell{.hidden = at.hidden,
                             .r = r.data() + d * rows * at.hidden,
                             .rb = wb != nullptr ? wb + rows : nullptr,
                             .p = p.size() > 0 ? p.data() + d * 3 * at.hidden : nullptr,
                             .f = activations.data() + static_cast<size_t>(d) * form.activations.size()};
    for (int64_t n = 0; n < at.samples; ++n) {
      const int64_t length = lengths[static_cast<size_t>(n)];
      double* hidden = h.data() + at.state(d, n);
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = reverse ? length - 1 - s : s;
        for (int64_t row = 0; row < rows; ++row) {
          double sum = wb != nullptr ? wb[row] : 0;
          for (int64_t k = 0; k < at.inputs; ++k) sum += w[(d * rows + row) * at.inputs + k] * x[at.x(t, n) + k];
          gates[row] = sum;
        }
        step(cell, gates.data(), hidden, c.data() + at.state(d, n));
        std::copy(hidden, hidden + at.hidden, y.data() + at.y(t, d, n));
      }
    }
  }
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[0], y));
  if (form.has_cell) NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[2], c));
  return store<double>(ctx.outputs[1], h);
}

Cost recurrent_cost(const InferContext& ctx, std::span<const TensorType> outputs) {
  Cost cost = traffic(ctx, outputs);
  const TensorType& x = *ctx.inputs[kRecurrentX];
  const Dim& inputs = x.shape[2];
  const double steps =
      elements_of(x) / static_cast<double>(inputs.is_static() && inputs.size() > 0 ? inputs.size() : 1);
  cost.flops = 2 * steps * (elements_of(*ctx.inputs[kRecurrentW]) + elements_of(*ctx.inputs[kRecurrentR]));
  return cost;
}

}  // namespace nereid::ops
