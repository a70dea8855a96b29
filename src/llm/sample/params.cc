// SPDX-License-Identifier: Apache-2.0
// The settings table and the checks that follow from it.
#include "llm/sample/params.h"

#include <algorithm>
#include <cmath>

namespace nereid::sample {
namespace {

constexpr double kIntMax = std::numeric_limits<int32_t>::max();
constexpr double kSeedMax = 18446744073709551615.0;

constexpr Setting kSettings[] = {
    {"temperature", &SamplingParams::temperature, 0, 100,
     "flattens (> 1) or sharpens (< 1) the choice; 0 takes the likeliest token"},
    {"top_k", &SamplingParams::top_k, 0, kIntMax, "keeps the k likeliest tokens; 0 keeps all"},
    {"top_p", &SamplingParams::top_p, 0, 1,
     "keeps the likeliest tokens that together reach this probability; 1 keeps all"},
    {"min_p", &SamplingParams::min_p, 0, 1, "drops tokens less likely than this share of the likeliest; 0 keeps all"},
    {"typical_p", &SamplingParams::typical_p, 0, 1,
     "keeps the tokens of most typical surprise up to this probability; 1 keeps all"},
    {"repetition_penalty", &SamplingParams::repetition_penalty, 1e-3, 1e3,
     "divides (> 1) the logits of tokens seen before; 1 is off"},
    {"presence_penalty", &SamplingParams::presence_penalty, -100, 100,
     "taken off the logit of every token seen before"},
    {"frequency_penalty", &SamplingParams::frequency_penalty, -100, 100,
     "taken off a token's logit for each time it was seen"},
    {"penalty_last_n", &SamplingParams::penalty_last_n, -1, kIntMax,
     "how many tokens the penalties look back; -1 for all, 0 turns them off"},
    {"seed", &SamplingParams::seed, 0, kSeedMax,
     "the same seed, settings and logits give the same tokens on every machine"},
    {"logprobs", &SamplingParams::logprobs, -1, 1000,
     "log-probabilities of so many likeliest tokens; 0: of the drawn one only; -1: none"},
    {"max_tokens", &SamplingParams::max_tokens, 0, kIntMax, "the answer ends after so many tokens"},
    {"min_tokens", &SamplingParams::min_tokens, 0, kIntMax, "no end-of-text token is drawn before so many tokens"},
    {"ignore_eos", &SamplingParams::ignore_eos, 0, 1, "1 never draws an end-of-text token"},
};

Status check(const Setting& setting, double value) {
  if (value >= setting.low && value <= setting.high) return Status::ok();  // false for NaN
  return invalid_argument("{} must lie between {} and {}, found {}.", setting.name, setting.low, setting.high, value);
}

}  // namespace

std::span<const Setting> setting_table() {
  return kSettings;
}

double get(const SamplingParams& params, const Setting& setting) {
  return std::visit([&](auto member) { return static_cast<double>(params.*member); }, setting.member);
}

Status set(SamplingParams* params, std::string_view name, double value) {
  const auto* row =
      std::find_if(std::begin(kSettings), std::end(kSettings), [&](const Setting& s) { return s.name == name; });
  if (row == std::end(kSettings)) return not_found("there is no sampling setting named '{}'.", name);
  NEREID_RETURN_IF_ERROR(check(*row, value));
  const bool is_whole = !std::holds_alternative<float SamplingParams::*>(row->member);
  if (is_whole && value != std::floor(value))
    return invalid_argument("{} must be a whole number, found {}.", name, value);
  std::visit(
      [&](auto member) {
        using Type = std::remove_reference_t<decltype(params->*member)>;
        // 2^64 - 1 rounds up to 2^64 as a double, which no integer holds.
        params->*member = value >= kSeedMax ? std::numeric_limits<Type>::max() : static_cast<Type>(value);
      },
      row->member);
  return Status::ok();
}

bool SamplingParams::has_penalties() const {
  return penalty_last_n != 0 && (repetition_penalty != 1.0F || presence_penalty != 0.0F || frequency_penalty != 0.0F);
}

Status SamplingParams::validate() const {
  for (const Setting& setting : kSettings) NEREID_RETURN_IF_ERROR(check(setting, get(*this, setting)));
  for (const auto& [token, bias] : logit_bias) {
    if (token < 0) return invalid_argument("logit_bias names the token {}; ids start at 0.", token);
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return invalid_argument("the logit_bias of token {} must be a number or -inf, found {}.", token, bias);
    }
  }
  if (stop.size() > kMaxStops)
    return invalid_argument("at most {} stop texts are allowed, found {}.", kMaxStops, stop.size());
  for (const std::string& text : stop) {
    if (text.empty()) return invalid_argument("a stop text is empty; it would end every answer at once.");
    if (text.size() > kMaxStopBytes)
      return invalid_argument("a stop text has {} bytes; at most {} are allowed.", text.size(), kMaxStopBytes);
  }
  if (min_tokens > max_tokens)
    return invalid_argument("min_tokens is {}, more than max_tokens, which is {}.", min_tokens, max_tokens);
  return Status::ok();
}

}  // namespace nereid::sample
