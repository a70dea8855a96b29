// SPDX-License-Identifier: Apache-2.0
// Rotary embedding parameters from a model's files, in each of the three spellings there are.
#include "llm/arch/read_rope.h"

#include <cmath>

#include "base/json.h"

namespace nereid::llm {
namespace {

constexpr std::string_view kWhere = "the rope parameters of config.json";

struct ScalingName {
  std::string_view name;
  RopeScaling scaling;
};
constexpr ScalingName kScalings[] = {
    {"default", RopeScaling::kNone},      {"none", RopeScaling::kNone},     {"linear", RopeScaling::kLinear},
    {"dynamic", RopeScaling::kDynamic},   {"llama3", RopeScaling::kLlama3}, {"yarn", RopeScaling::kYarn},
    {"longrope", RopeScaling::kLongRope}, {"su", RopeScaling::kLongRope},
};

Result<RopeScaling> scaling_of(std::string_view name) {
  for (const ScalingName& s : kScalings) {
    if (s.name == name) return s.scaling;
  }
  return unsupported(
      "The rope scaling '{}' is not supported; expected default, linear, dynamic, llama3, yarn or longrope.",
      name.substr(0, 64));
}

// Takes a value over the default where the object has the key.
Status take(const Json* object, std::string_view key, double& target) {
  NEREID_TRY(const std::optional<double> value, json_real(object, key, kWhere));
  if (value) target = *value;
  return Status::ok();
}

Result<std::vector<double>> json_reals(const Json* object, std::string_view key) {
  std::vector<double> values;
  const Json* list = json_member(object, key);
  if (list == nullptr) return values;
  if (!list->is_array()) return invalid_argument("{} in {} is no list.", key, kWhere);
  for (const Json& v : *list) {
    if (!v.is_number()) return invalid_argument("{} in {} holds something that is no number.", key, kWhere);
    values.push_back(v.get<double>());
  }
  return values;
}

// `object`: rope_scaling or rope_parameters, may be null.
Result<RopeConfig> read_hf(const HyperParameters& p, const Json* object, double theta, const ModelConfig& c) {
  RopeConfig r;
  r.theta = theta;
  if (json_member(object, "llama_4_scaling_beta") != nullptr) {
    return unsupported("llama_4_scaling_beta in {} scales queries by their position, which is not supported.", kWhere);
  }
  double rotated_share = 1;
  NEREID_TRY(const std::optional<double> outer_share, p.real("", "partial_rotary_factor"));
  if (outer_share) rotated_share = *outer_share;
  NEREID_RETURN_IF_ERROR(take(object, "partial_rotary_factor", rotated_share));
  if (!(rotated_share > 0 && rotated_share <= 1)) {
    return invalid_argument("partial_rotary_factor is {}; expected more than 0 and at most 1.", rotated_share);
  }
  r.dim = static_cast<int64_t>(static_cast<double>(c.head_dim) * rotated_share);

  NEREID_TRY(std::optional<std::string> type, json_text(object, "rope_type", kWhere));
  if (!type) {
    NEREID_TRY(type, json_text(object, "type", kWhere));
  }
  NEREID_TRY(r.scaling, scaling_of(type.value_or("default")));
  if (r.scaling == RopeScaling::kNone) return r;

  NEREID_TRY(std::optional<int64_t> original, json_integer(object, "original_max_position_embeddings", kWhere));
  if (!original) {
    NEREID_TRY(original, p.integer("", "original_max_position_embeddings"));
  }
  r.original_context = r.scaling == RopeScaling::kDynamic ? c.context_length : original.value_or(c.context_length);
  if (r.original_context > 0) {
    r.factor = static_cast<double>(c.context_length) / static_cast<double>(r.original_context);
  }
  NEREID_RETURN_IF_ERROR(take(object, "factor", r.factor));
  NEREID_RETURN_IF_ERROR(take(object, "low_freq_factor", r.low_freq_factor));
  NEREID_RETURN_IF_ERROR(take(object, "high_freq_factor", r.high_freq_factor));
  NEREID_RETURN_IF_ERROR(take(object, "beta_fast", r.beta_fast));
  NEREID_RETURN_IF_ERROR(take(object, "beta_slow", r.beta_slow));
  NEREID_RETURN_IF_ERROR(take(object, "mscale", r.mscale));
  NEREID_RETURN_IF_ERROR(take(object, "mscale_all_dim", r.mscale_all_dim));
  NEREID_TRY(r.attention_factor, json_real(object, "attention_factor", kWhere));
  NEREID_TRY(const std::optional<bool> truncate, json_boolean(object, "truncate", kWhere));
  r.truncate = truncate.value_or(true);
  NEREID_TRY(r.short_factors, json_reals(object, "short_factor"));
  NEREID_TRY(r.long_factors, json_reals(object, "long_factor"));
  return r;
}

Result<std::vector<RopeConfig>> read_hf_ropes(const Architecture& arch, const HyperParameters& p,
                                              const ModelConfig& c) {
  const Json* newer = p.hf("rope_parameters");
  const Json* older = p.hf("rope_scaling");
  const Json* full = json_member(newer, "full_attention");
  const Json* sliding = json_member(newer, "sliding_attention");
  const Json* global = full != nullptr ? full : newer != nullptr ? newer : older;

  double theta = arch.theta;
  double local_theta = arch.local_theta;
  NEREID_TRY(const std::optional<double> outer, p.real("", "rope_theta"));
  NEREID_TRY(const std::optional<double> outer_local, p.real("", "rope_local_base_freq"));
  theta = outer.value_or(theta);
  local_theta = outer_local.value_or(local_theta);
  NEREID_RETURN_IF_ERROR(take(global, "rope_theta", theta));
  NEREID_RETURN_IF_ERROR(take(sliding, "rope_theta", local_theta));

  NEREID_TRY(RopeConfig first, read_hf(p, global, theta, c));
  std::vector<RopeConfig> ropes = {std::move(first)};
  if (arch.local_theta > 0) {
    NEREID_TRY(RopeConfig local, read_hf(p, sliding, local_theta, c));
    ropes.push_back(std::move(local));
  }
  return ropes;
}

Result<std::vector<RopeConfig>> read_gguf_ropes(const Architecture& arch, const HyperParameters& p,
                                                const ModelConfig& c) {
  RopeConfig r;
  NEREID_TRY(const std::optional<double> theta, p.real("rope.freq_base", ""));
  NEREID_TRY(const std::optional<double> local_theta, p.real("rope.freq_base_swa", ""));
  NEREID_TRY(const std::optional<int64_t> dim, p.integer("rope.dimension_count", ""));
  r.theta = theta.value_or(arch.theta);
  r.dim = dim.value_or(c.head_dim);
  r.interleaved = arch.gguf.rope_interleaved;
  RopeConfig local = r;
  local.theta = local_theta.value_or(arch.local_theta);

  NEREID_TRY(const std::optional<std::string> type, p.text("rope.scaling.type", ""));
  NEREID_TRY(std::optional<double> factor, p.real("rope.scaling.factor", ""));
  if (!factor) {
    NEREID_TRY(factor, p.real("rope.scale_linear", ""));  // files of 2023
  }
  const bool scaled = factor.value_or(0) != 0 && factor.value_or(0) != 1;
  NEREID_TRY(r.scaling, scaling_of(type ? *type : scaled ? "linear" : "none"));
  if (r.scaling != RopeScaling::kNone) {
    NEREID_TRY(const std::optional<int64_t> original, p.integer("rope.scaling.original_context_length", ""));
    NEREID_TRY(const std::optional<double> multiplier, p.real("rope.scaling.attn_factor", ""));
    NEREID_TRY(r.attention_factor, p.real("rope.scaling.yarn_attn_factor", ""));
    NEREID_TRY(const std::optional<double> fast, p.real("rope.scaling.yarn_beta_fast", ""));
    NEREID_TRY(const std::optional<double> slow, p.real("rope.scaling.yarn_beta_slow", ""));
    r.original_context = original.value_or(c.context_length);
    r.factor =
        r.original_context > 0 ? static_cast<double>(c.context_length) / static_cast<double>(r.original_context) : 1;
    r.factor = factor.value_or(r.factor);
    r.beta_fast = fast.value_or(r.beta_fast);
    r.beta_slow = slow.value_or(r.beta_slow);
    if (multiplier) r.attention_factor = *multiplier;
  }
  std::vector<RopeConfig> ropes = {r};
  if (arch.local_theta > 0) ropes.push_back(local);
  return ropes;
}

Status check_divisors(const std::vector<double>& divisors, int64_t dim, std::string_view name) {
  if (static_cast<int64_t>(divisors.size()) != dim / 2) {
    return invalid_argument("The {} have {} entries; expected {}, one a rotated pair.", name, divisors.size(), dim / 2);
  }
  for (const double d : divisors) {
    if (!(d > 0 && d < 1e9)) return invalid_argument("One of the {} is {}; expected a positive number.", name, d);
  }
  return Status::ok();
}

}  // namespace

Result<std::vector<RopeConfig>> read_ropes(const Architecture& arch, const HyperParameters& params,
                                           const ModelConfig& config) {
  if (arch.theta == 0) return std::vector<RopeConfig>();
  return params.is_gguf() ? read_gguf_ropes(arch, params, config) : read_hf_ropes(arch, params, config);
}

Status check_rope(const RopeConfig& r, int64_t head_dim) {
  const auto within = [](double v, double low, double high) { return v >= low && v <= high; };  // false for NaN
  if (!within(r.theta, 1.5, 1e15)) return invalid_argument("The rope base is {}; expected 1.5 to 1e15.", r.theta);
  if (r.dim < 2 || r.dim % 2 != 0 || r.dim > head_dim) {
    return invalid_argument("Rope rotates {} elements of each head of {}; expected an even number from 2 on.", r.dim,
                            head_dim);
  }
  if (!r.divisors.empty()) NEREID_RETURN_IF_ERROR(check_divisors(r.divisors, r.dim, "rope divisors"));
  if (r.scaling == RopeScaling::kNone) return Status::ok();
  if (!within(r.factor, 1e-3, 1e6)) return invalid_argument("The rope factor is {}; expected 0.001 to 1e6.", r.factor);
  if (r.original_context < 2 || r.original_context > (int64_t{1} << 30)) {
    return invalid_argument("The context before rope scaling is {} tokens; expected 2 to 2^30.", r.original_context);
  }
  if (r.attention_factor && !within(*r.attention_factor, 1e-3, 1e3)) {
    return invalid_argument("The rope attention factor is {}; expected 0.001 to 1000.", *r.attention_factor);
  }
  switch (r.scaling) {
    case RopeScaling::kDynamic:
      if (r.dim < 4 || r.factor < 1) {
        return invalid_argument(
            "Dynamic rope scaling needs a factor of at least 1 and 4 rotated elements; found {} and {}.", r.factor,
            r.dim);
      }
      break;
    case RopeScaling::kLlama3:
      if (!(r.low_freq_factor > 0 && r.high_freq_factor > r.low_freq_factor && r.high_freq_factor < 1e6)) {
        return invalid_argument("The llama3 rope factors are low {} and high {}; expected 0 < low < high.",
                                r.low_freq_factor, r.high_freq_factor);
      }
      break;
    case RopeScaling::kYarn:
      if (!within(r.beta_slow, 1e-6, 1e6) || !within(r.beta_fast, r.beta_slow, 1e6)) {
        return invalid_argument("The yarn rotations are fast {} and slow {}; expected 0 < slow <= fast.", r.beta_fast,
                                r.beta_slow);
      }
      if (!within(r.mscale, 0, 1e3) || !within(r.mscale_all_dim, 0, 1e3)) {
        return invalid_argument("The yarn mscales are {} and {}; expected 0 to 1000.", r.mscale, r.mscale_all_dim);
      }
      break;
    case RopeScaling::kLongRope:
      NEREID_RETURN_IF_ERROR(check_divisors(r.short_factors, r.dim, "short rope factors"));
      NEREID_RETURN_IF_ERROR(check_divisors(r.long_factors, r.dim, "long rope factors"));
      break;
    case RopeScaling::kLinear:
    case RopeScaling::kNone:
      break;
  }
  return Status::ok();
}

}  // namespace nereid::llm
