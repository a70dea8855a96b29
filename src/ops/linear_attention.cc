// SPDX-License-Identifier: Apache-2.0
// linear_attention: each head keeps a matrix that is updated by outer products of keys and values and read by queries
// (Katharopoulos et al. 2020; Yang et al. 2024 for the gated and delta rules).
#include <cmath>

#include "ops/elements.h"
#include "ops/shape_rule.h"

namespace nereid::ops {
namespace {

enum : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };
constexpr ArgSpec kInputs[] = {{.name = "query"},
                               {.name = "key"},
                               {.name = "value"},
                               {.name = "past_state", .optional = true},
                               {.name = "decay", .optional = true},
                               {.name = "beta", .optional = true}};
constexpr ArgSpec kOutputs[] = {{.name = "output"}, {.name = "present_state"}};
constexpr AttrSpec kAttrs[] = {
    {"chunk_size", AttrSpec::Kind::kInt, "64", "steps that a kernel may take at once; changes no result"},
    {"kv_num_heads", AttrSpec::Kind::kInt, "", "heads of key and value"},
    {"q_num_heads", AttrSpec::Kind::kInt, "", "heads of query"},
    {"scale", AttrSpec::Kind::kFloat, "0.0", "factor of what is read; 0: 1 / sqrt(size of a key)"},
    {"update_rule", AttrSpec::Kind::kString, "gated_delta", "linear, gated, delta or gated_delta"}};

struct Rule {
  bool gated, delta;
};

Result<Rule> rule_of(const Attrs& attrs) {
  const std::string& name = attrs.text("update_rule");
  if (name == "linear") return Rule{false, false};
  if (name == "gated") return Rule{true, false};
  if (name == "delta") return Rule{false, true};
  if (name == "gated_delta") return Rule{true, true};
  return invalid_argument("the update rule is '{}' and should be linear, gated, delta or gated_delta", name);
}

// The last dimension of input i divided among the heads.
Result<Dim> per_head(const ShapeRule& rule, size_t i, int64_t heads) {
  const Dim& width = rule.dim(i, 2);
  if (!width.is_static()) return Dim::unknown();
  if (width.size() % heads != 0)
    return invalid_argument("{} has no whole number per head of {}", rule.describe(i), heads);
  return Dim(width.size() / heads);
}

Result<std::vector<TensorType>> infer(const InferContext& ctx) {
  ShapeRule rule(ctx, kInputs);
  NEREID_TRY(const Rule update, rule_of(ctx.attrs));
  const int64_t q_heads = ctx.attrs.integer("q_num_heads");
  const int64_t kv_heads = ctx.attrs.integer("kv_num_heads");
  if (kv_heads < 1 || q_heads < 1 || q_heads % kv_heads != 0)
    return invalid_argument("{} query heads cannot share {} key heads", q_heads, kv_heads);
  for (size_t i : {kQuery, kKey, kValue, kDecay, kBeta}) {
    if (!rule.has(i)) continue;
    NEREID_RETURN_IF_ERROR(rule.is_activation(i));
    NEREID_RETURN_IF_ERROR(rule.has_rank(i, 3));
    NEREID_RETURN_IF_ERROR(rule.agree(kQuery, 0, i, 0));
    NEREID_RETURN_IF_ERROR(rule.agree(kQuery, 1, i, 1));
  }
  if (update.gated && !rule.has(kDecay)) return invalid_argument("the gated rules need decay");
  if (update.delta && !rule.has(kBeta)) return invalid_argument("the delta rules need beta");
  NEREID_TRY(const Dim q, per_head(rule, kQuery, q_heads));
  NEREID_TRY(const Dim k, per_head(rule, kKey, kv_heads));
  NEREID_TRY(const Dim v, per_head(rule, kValue, kv_heads));
  if (!merge(q, k))
    return invalid_argument("heads of query have {} elements, heads of key {}", q.to_string(), k.to_string());
  if (rule.has(kDecay) && rule.dim(kDecay, 2) != Dim(kv_heads)) NEREID_RETURN_IF_ERROR(rule.agree(kDecay, 2, kKey, 2));
  if (rule.has(kBeta) && rule.dim(kBeta, 2) != Dim(1))
    NEREID_RETURN_IF_ERROR(rule.has_size(kBeta, 2, kv_heads, "one a head, or 1"));
  TensorType state{rule.type(kQuery).dtype, {rule.dim(kQuery, 0), Dim(kv_heads), k, v}};
  if (rule.has(kPast)) {
    NEREID_RETURN_IF_ERROR(rule.is_activation(kPast));
    NEREID_RETURN_IF_ERROR(rule.has_rank(kPast, 4));
    for (int d = 0; d < 4; ++d)
      if (!merge(rule.dim(kPast, d), state.shape[d]))
        return invalid_argument("{} should be {}", rule.describe(kPast), state.shape.to_string());
    state.dtype = rule.type(kPast).dtype;
  }
  int64_t width = 0;
  if (v.is_static() && __builtin_mul_overflow(v.size(), q_heads, &width))
    return invalid_argument("the output is too wide");
  return std::vector<TensorType>{
      {rule.type(kQuery).dtype,
       {rule.dim(kQuery, 0), rule.dim(kQuery, 1), v.is_static() ? Dim(width) : Dim::unknown()}},
      state};
}

DType dtype_of(const InferContext& ctx, size_t output) {
  const TensorType* type = output == 1 && ctx.inputs[kPast] != nullptr ? ctx.inputs[kPast] : ctx.inputs[kQuery];
  return type != nullptr ? type->dtype : DType::f32;
}

// One step of one head: state [k, v] in place.
struct Update {
  int64_t k_size, v_size;
  const double* key;
  const double* value;
  const double* decay;  // of each row, or one for all, or null
  bool decay_each;
  double beta;
  bool delta;

  void apply(double* state) const {
    if (decay != nullptr)
      for (int64_t i = 0; i < k_size; ++i) {
        const double factor = std::exp(decay[decay_each ? i : 0]);
        for (int64_t j = 0; j < v_size; ++j) state[i * v_size + j] *= factor;
      }
    for (int64_t j = 0; j < v_size; ++j) {
      double change = value[j];
      if (delta) {
        for (int64_t i = 0; i < k_size; ++i) change -= state[i * v_size + j] * key[i];
        change *= beta;
      }
      for (int64_t i = 0; i < k_size; ++i) state[i * v_size + j] += key[i] * change;
    }
  }
};

Status evaluate(const EvalContext& ctx) {
  NEREID_TRY(const Rule update, rule_of(ctx.attrs));
  const int64_t q_heads = ctx.attrs.integer("q_num_heads");
  const int64_t heads = ctx.attrs.integer("kv_num_heads");
  const int64_t samples = ctx.inputs[kQuery].sizes[0];
  const int64_t steps = ctx.inputs[kQuery].sizes[1];
  const int64_t k_size = ctx.inputs[kKey].sizes[2] / heads;
  const int64_t v_size = ctx.inputs[kValue].sizes[2] / heads;
  const Elements<double> query = load<double>(ctx.inputs[kQuery]);
  const Elements<double> key = load<double>(ctx.inputs[kKey]);
  const Elements<double> value = load<double>(ctx.inputs[kValue]);
  Elements<double> decay, beta;
  if (update.gated) decay = load<double>(ctx.inputs[kDecay]);
  if (update.delta) beta = load<double>(ctx.inputs[kBeta]);
  const int64_t decays = update.gated ? ctx.inputs[kDecay].sizes[2] : 0;
  const int64_t betas = update.delta ? ctx.inputs[kBeta].sizes[2] : 0;
  Elements<double> state = ctx.inputs[kPast].data != nullptr ? load<double>(ctx.inputs[kPast])
                                                             : Elements<double>(samples * heads * k_size * v_size);
  const double scale =
      ctx.attrs.real("scale") != 0 ? ctx.attrs.real("scale") : 1 / std::sqrt(static_cast<double>(k_size));
  Elements<double> out(ctx.outputs[0].elements());
  const bool decay_each = decays != heads;
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t at = n * steps + t;
      for (int64_t h = 0; h < heads; ++h) {
        double* s = state.data() + (n * heads + h) * k_size * v_size;
        const Update one{.k_size = k_size,
                         .v_size = v_size,
                         .key = key.data() + (at * heads + h) * k_size,
                         .value = value.data() + (at * heads + h) * v_size,
                         .decay = update.gated ? decay.data() + at * decays + (decay_each ? h * k_size : h) : nullptr,
                         .decay_each = decay_each,
                         .beta = update.delta ? beta[at * betas + (betas == 1 ? 0 : h)] : 1,
                         .delta = update.delta};
        one.apply(s);
        const int64_t shared = q_heads / heads;
        for (int64_t g = h * shared; g < (h + 1) * shared; ++g)
          for (int64_t i = 0; i < k_size; ++i)
            for (int64_t j = 0; j < v_size; ++j)
              out[(at * q_heads + g) * v_size + j] +=
                  scale * query[(at * q_heads + g) * k_size + i] * s[i * v_size + j];
      }
    }
  }
  NEREID_RETURN_IF_ERROR(store<double>(ctx.outputs[1], state));
  return store<double>(ctx.outputs[0], out);
}

}  // namespace

extern constexpr OpDef kLinearAttention = {
    .name = "linear_attention",
    .summary = "state = e^decay * state + key * change^T, output = scale * query * state, one step after the other",
    .inputs = kInputs,
    .outputs = kOutputs,
    .attrs = kAttrs,
    .infer = infer,
    .evaluate = evaluate,
    .tolerance_f32 = 1e-4,
    .dtype_of = dtype_of};

}  // namespace nereid::ops
