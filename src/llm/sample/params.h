// SPDX-License-Identifier: Apache-2.0
// What a request may ask of sampling: one struct, and one table that names, bounds and explains each of its settings.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace nereid::sample {

// The defaults change nothing: greedy, no penalties, no end but the model's own.
struct SamplingParams {
  float temperature = 0.0F;  // 0: greedy
  int32_t top_k = 0;         // 0: off
  float top_p = 1.0F;        // 1: off
  float min_p = 0.0F;        // 0: off
  float typical_p = 1.0F;    // 1: off
  float repetition_penalty = 1.0F;
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;
  int32_t penalty_last_n = 64;  // tokens looked back at; -1: all of them, 0: penalties off
  uint64_t seed = 0;
  int32_t logprobs = -1;  // -1: none; 0: of the token drawn; k: and of the k likeliest
  int32_t max_tokens = std::numeric_limits<int32_t>::max();
  int32_t min_tokens = 0;               // no end-of-text token before so many
  int32_t ignore_eos = 0;               // 1: never draw an end-of-text token
  std::map<int32_t, float> logit_bias;  // added to the token's logit; -inf bans it
  std::vector<std::string> stop;        // texts that end the answer

  bool is_greedy() const { return temperature == 0.0F; }
  bool has_penalties() const;
  // Errors: kInvalidArgument with the setting's name, bounds and value.
  Status validate() const;
};

constexpr size_t kMaxStops = 64;
constexpr size_t kMaxStopBytes = 1024;

using SettingMember = std::variant<float SamplingParams::*, int32_t SamplingParams::*, uint64_t SamplingParams::*>;

struct Setting {
  std::string_view name;  // as in JSON and, with '-' for '_', on the command line
  SettingMember member;
  double low;  // bounds, inclusive
  double high;
  std::string_view help;
};

std::span<const Setting> setting_table();
// Errors: kNotFound for an unknown name, kInvalidArgument for a value out of bounds or not whole.
Status set(SamplingParams* params, std::string_view name, double value);
double get(const SamplingParams& params, const Setting& setting);

}  // namespace nereid::sample
