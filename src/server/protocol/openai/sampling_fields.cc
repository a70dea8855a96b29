// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/sampling_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace nereid::server::openai {
namespace {

struct Bounds {
  std::string_view name;
  double low, high;
};
constexpr Bounds kOpenAiBounds[] = {
    {"temperature", 0, 2}, {"top_p", 0, 1}, {"presence_penalty", -2, 2}, {"frequency_penalty", -2, 2}};

struct Alias {
  std::string_view name;     // in the body
  std::string_view setting;  // in the table
};
constexpr Alias kAliases[] = {{"repeat_penalty", "repetition_penalty"},
                              {"repeat_last_n", "penalty_last_n"},
                              {"typ_p", "typical_p"},
                              {"min_new_tokens", "min_tokens"}};

// Each endpoint reads these in a form of its own.
constexpr std::string_view kSpecial[] = {"seed", "logprobs", "max_tokens", "best_of"};

void read_setting(Fields& fields, std::string_view name, const sample::Setting& setting,
                  sample::SamplingParams* params) {
  const auto* bounds = std::find_if(std::begin(kOpenAiBounds), std::end(kOpenAiBounds),
                                    [&](const Bounds& b) { return b.name == setting.name; });
  const Json* value = fields.any(name);
  if (!value) return;
  const bool is_flag = value->is_boolean() &&
                       std::holds_alternative<int32_t sample::SamplingParams::*>(setting.member) && setting.low == 0 &&
                       setting.high == 1;
  double number = 0;
  if (is_flag) {
    number = value->get<bool>() ? 1 : 0;
  } else {
    const bool has_bounds = bounds != std::end(kOpenAiBounds);
    const std::optional<double> read =
        has_bounds ? fields.number(name, bounds->low, bounds->high)
                   : fields.number(name, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
    if (!read) return;
    number = *read;
  }
  if (setting.name == "top_k" && number == -1) number = 0;  // vLLM's way to turn it off
  const Status status = sample::set(params, setting.name, number);
  if (!status.is_ok()) fields.fail(name, "invalid_value", fmt::format("Invalid '{}': {}", name, status.message()));
}

// OpenAI: -100 bans a token, 100 takes no other.
constexpr double kBiasLimit = 100;

void read_logit_bias(Fields& fields, sample::SamplingParams* params) {
  const Json* biases = fields.object("logit_bias");
  if (!biases) return;
  for (const auto& [key, value] : biases->items()) {
    int32_t token = -1;
    const auto end = std::from_chars(key.data(), key.data() + key.size(), token);
    if (end.ec != std::errc() || end.ptr != key.data() + key.size() || token < 0) {
      fields.fail(
          "logit_bias", "invalid_value",
          fmt::format("Invalid key in 'logit_bias': '{}'. Keys must be ids of tokens, whole numbers from 0.", key));
      return;
    }
    if (!value.is_number()) {
      fields.fail_type(fmt::format("logit_bias.{}", key), "a decimal", value);
      return;
    }
    const auto bias = value.get<double>();
    if (!(bias >= -kBiasLimit && bias <= kBiasLimit)) {
      fields.fail("logit_bias", "invalid_value",
                  fmt::format("Invalid value in 'logit_bias': {} for token {}. Values must lie between -100 and 100.",
                              value.dump(), key));
      return;
    }
    params->logit_bias[token] =
        bias == -kBiasLimit ? -std::numeric_limits<float>::infinity() : static_cast<float>(bias);
  }
}

std::vector<int32_t> read_tokens(Fields& fields, std::string_view name) {
  std::vector<int32_t> tokens;
  const Json* list = fields.array(name);
  if (!list) return tokens;
  for (const Json& one : *list) {
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > INT32_MAX) {
      fields.fail(name, "invalid_value",
                  fmt::format("Invalid '{}': every element must be the id of a token, found {}.", name,
                              one.is_number() ? one.dump() : std::string(json_type_name(one))));
      return {};
    }
    tokens.push_back(one.get<int32_t>());
  }
  return tokens;
}

}  // namespace

sample::SamplingParams read_sampling(Fields& fields, uint64_t random_seed) {
  sample::SamplingParams params;
  params.temperature = 1.0F;  // OpenAI's default; the library's is greedy
  for (const sample::Setting& setting : sample::setting_table()) {
    if (std::find(std::begin(kSpecial), std::end(kSpecial), setting.name) != std::end(kSpecial)) continue;
    read_setting(fields, setting.name, setting, &params);
  }
  for (const Alias& alias : kAliases) {
    const auto table = sample::setting_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const auto& s) { return s.name == alias.setting; });
    if (row != table.end()) read_setting(fields, alias.name, *row, &params);
  }
  // Any number will do as long as the same one gives the same.
  const std::optional<int64_t> seed = fields.integer("seed", INT64_MIN, INT64_MAX);
  params.seed = seed ? static_cast<uint64_t>(*seed) : random_seed;
  params.stop = fields.texts("stop", sample::kMaxStops);
  read_logit_bias(fields, &params);
  params.stop_token_ids = read_tokens(fields, "stop_token_ids");
  params.allowed_token_ids = read_tokens(fields, "allowed_token_ids");
  params.bad_words = fields.texts("bad_words", sample::kMaxBadWords);
  if (fields.has("dry_sequence_breakers"))
    params.dry_sequence_breakers = fields.texts("dry_sequence_breakers", sample::kMaxBreakers);
  return params;
}

void check_sampling(const sample::SamplingParams& params, const Fields& fields) {
  const Status status = params.validate();
  if (status.is_ok()) return;
  // Its sentences begin with the setting's name, or name it before long.
  std::string_view param;
  for (const auto& [name, value] : fields.json().items()) {
    const size_t at = status.message().find(name);
    if (at == 0 || (param.empty() && at != std::string::npos && !name.empty())) param = name;
  }
  fields.fail(param, "invalid_value", status.message());
}

}  // namespace nereid::server::openai
