// SPDX-License-Identifier: Apache-2.0
#include "import/peft/config.h"

#include <algorithm>
#include <cmath>

namespace nereid::import::peft {
namespace {

// Settings that change what an adapter computes, and why they cannot be followed. Absent, null, false, zero and empty
// values ask for nothing.
struct Refused {
  std::string_view key;
  std::string_view reason;
};
constexpr Refused kRefused[] = {
    {"use_dora", "DoRA rescales the rows of the base weights"},
    {"modules_to_save", "modules that were trained whole replace the base model's"},
    {"lora_bias", "biases on the low-rank matrices are not added"},
    {"layer_replication", "layers of the base model would have to be repeated"},
    {"target_parameters", "parameters that are no matrix of a linear module are not adapted"},
    {"trainable_token_indices", "rows of the embedding table would have to be replaced"},
    {"alora_invocation_tokens", "adapters that begin in the middle of a prompt are not known"},
    {"use_qalora", "QA-LoRA pools the input before it multiplies"},
    {"use_bdlora", "block-diagonal matrices are not known"},
    {"arrow_config", "routing among adapters is not known"},
    {"kasa_config", "KaSA scales the base weights' singular values"},
    {"monteclora_config", "sampled weights are not known"},
    {"velora_config", "VeLoRA is not known"},
};

bool asks_for_something(const Json& value) {
  if (value.is_null() || value == false) return false;
  if (value.is_number()) return value != 0;
  if (value.is_string()) return !value.get_ref<const std::string&>().empty();
  return !(value.is_structured() && value.empty());
}

// Ways to begin that changed the base weights, which the adapter then goes with.
constexpr std::string_view kChangedBases[] = {"pissa", "olora", "corda", "loftq", "lora_ga"};

Status check_kind(const Json& json) {
  NEREID_TRY(const std::string kind, json_string(json, "peft_type"));
  if (kind != "LORA") return unsupported("peft_type is {}; only LORA adapters can be used", kind);
  for (const Refused& refused : kRefused)
    if (const Json* value = json_find(json, refused.key); value && asks_for_something(*value))
      return unsupported("the adapter sets {}, which is not supported: {}", refused.key, refused.reason);
  NEREID_TRY(const std::string bias, json_string_or(json, "bias", "none"));
  if (bias != "none") return unsupported("the adapter has trained biases (bias is {}); only 'none' is supported", bias);
  const Json* init = json_find(json, "init_lora_weights");
  if (init && init->is_string())
    for (std::string_view changed : kChangedBases)
      if (init->get_ref<const std::string&>().starts_with(changed))
        return unsupported(
            "the adapter was begun by {}, which changes the base model's weights; convert it to a plain LoRA first",
            init->get_ref<const std::string&>());
  return Status::ok();
}

}  // namespace

Result<Config> Config::parse(const Json& json) {
  if (!json.is_object()) return invalid_argument("expected a JSON object, found another value");
  NEREID_RETURN_IF_ERROR(check_kind(json));
  Config c;
  NEREID_TRY(c.base_model_, json_string_or(json, "base_model_name_or_path", ""));
  NEREID_TRY(c.rank_, json_float_or(json, "r", 8));
  NEREID_TRY(c.alpha_, json_float_or(json, "lora_alpha", 8));
  NEREID_TRY(c.is_rank_stabilised_, json_bool_or(json, "use_rslora", false));
  NEREID_TRY(c.ranks_, read_patterns(json, "rank_pattern"));
  NEREID_TRY(c.alphas_, read_patterns(json, "alpha_pattern"));
  return c;
}

Result<Config::Patterns> Config::read_patterns(const Json& json, std::string_view key) {
  Patterns patterns;
  const Json* object = json_find(json, key);
  if (!object) return patterns;
  if (!object->is_object()) return invalid_argument("{} is no object of patterns", key);
  for (const auto& [pattern, value] : object->items()) {
    if (!value.is_number()) return invalid_argument("{} has no number for '{}'", key, pattern);
    patterns.emplace_back(pattern, value.get<double>());
  }
  return patterns;
}

Result<double> Config::find(const Patterns& patterns, std::string_view module, double otherwise) {
  const std::pair<std::string, double>* found = nullptr;
  for (const auto& candidate : patterns) {
    NEREID_TRY(const bool matches, pattern_matches(candidate.first, module));
    if (!matches) continue;
    if (found && found->second != candidate.second)
      return invalid_argument("'{}' and '{}' both match {}, with {} and {}; expected one of them", found->first,
                              candidate.first, module, found->second, candidate.second);
    found = &candidate;
  }
  return found ? found->second : otherwise;
}

Result<int64_t> Config::rank_of(std::string_view module) const {
  NEREID_TRY(const double rank, find(ranks_, module, rank_));
  constexpr double kMost = 1 << 20;
  if (!(rank >= 1 && rank <= kMost) || rank != std::floor(rank))
    return invalid_argument("the rank of {} is {}; expected a whole number from 1 on", module, rank);
  return static_cast<int64_t>(rank);
}

Result<double> Config::scale_of(std::string_view module, int64_t rank) const {
  NEREID_TRY(const double alpha, find(alphas_, module, alpha_));
  const auto r = static_cast<double>(rank);
  const double scale = alpha / (is_rank_stabilised_ ? std::sqrt(r) : r);
  if (!std::isfinite(static_cast<float>(scale)))
    return invalid_argument("lora_alpha of {} is {}; expected a finite number", module, alpha);
  return scale;
}

}  // namespace nereid::import::peft
