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
    {"top_n_sigma", &SamplingParams::top_n_sigma, 0, 100,
     "drops tokens whose logit lies more than so many standard deviations below the best; 0 keeps all"},
    {"xtc_probability", &SamplingParams::xtc_probability, 0, 1,
     "how often the likeliest tokens are left out but for the last above xtc_threshold; 0 is off"},
    {"xtc_threshold", &SamplingParams::xtc_threshold, 0, 1,
     "what a token's probability must reach to count as likely for xtc; above 0.5 is off"},
    {"dynatemp_range", &SamplingParams::dynatemp_range, 0, 100,
     "the temperature lies so far below (for certain choices) or above (for open ones) the one given; 0 is off"},
    {"dynatemp_exponent", &SamplingParams::dynatemp_exponent, 0, 100,
     "how the temperature grows with the share of the greatest entropy: to this power"},
    {"mirostat", &SamplingParams::mirostat, 0, 2,
     "1 or 2: that version of Mirostat holds the surprise at mirostat_tau, in place of all filters; 0 is off"},
    {"mirostat_tau", &SamplingParams::mirostat_tau, 0, 100, "the surprise that Mirostat aims at, in bits"},
    {"mirostat_eta", &SamplingParams::mirostat_eta, 0, 10, "how fast Mirostat corrects itself"},
    {"repetition_penalty", &SamplingParams::repetition_penalty, 1e-3, 1e3,
     "divides (> 1) the logits of tokens seen before; 1 is off"},
    {"presence_penalty", &SamplingParams::presence_penalty, -100, 100,
     "taken off the logit of every token seen before"},
    {"frequency_penalty", &SamplingParams::frequency_penalty, -100, 100,
     "taken off a token's logit for each time it was seen"},
    {"penalty_last_n", &SamplingParams::penalty_last_n, -1, kIntMax,
     "how many tokens the penalties look back; -1 for all, 0 turns them off"},
    {"dry_multiplier", &SamplingParams::dry_multiplier, 0, 100,
     "taken off the logit of a token that would go on with a repeat, times dry_base^(length - dry_allowed_length); "
     "0 is off"},
    {"dry_base", &SamplingParams::dry_base, 1, 8, "by how much each further token of a repeat raises dry's penalty"},
    {"dry_allowed_length", &SamplingParams::dry_allowed_length, 1, kIntMax, "repeats shorter than this are free"},
    {"dry_penalty_last_n", &SamplingParams::dry_penalty_last_n, -1, kIntMax,
     "how many tokens dry looks back; -1 for all, 0 turns it off"},
    {"no_repeat_ngram_size", &SamplingParams::no_repeat_ngram_size, 0, 1024,
     "no so many tokens in a row come twice; 0 is off"},
    {"seed", &SamplingParams::seed, 0, kSeedMax,
     "the same seed, settings and logits give the same tokens on every machine"},
    {"logprobs", &SamplingParams::logprobs, -1, 1000,
     "log-probabilities of so many likeliest tokens; 0: of the drawn one only; -1: none"},
    {"max_tokens", &SamplingParams::max_tokens, 0, kIntMax, "the answer ends after so many tokens"},
    {"min_tokens", &SamplingParams::min_tokens, 0, kIntMax, "no end-of-text token is drawn before so many tokens"},
    {"ignore_eos", &SamplingParams::ignore_eos, 0, 1, "1 never draws an end-of-text token"},
    {"best_of", &SamplingParams::best_of, 0, kMaxBestOf,
     "draws so many answers and gives the likeliest; 0: as many as are asked for"},
    {"beam_width", &SamplingParams::beam_width, 0, kMaxBeams,
     "searches the likeliest answers with so many beams, without temperature and filters; 0 and 1 are off"},
    {"length_penalty", &SamplingParams::length_penalty, -10, 10,
     "a beam's score is its log-probability divided by its length to this power"},
    {"early_stopping", &SamplingParams::early_stopping, 0, 2,
     "a beam search ends, once there are as many whole answers as beams, at once (1), when no beam is likely to do "
     "better (0), or when none can (2)"},
    {"beam_diversity", &SamplingParams::beam_diversity, 0, 100,
     "taken off the score of a beam's second-best continuation, twice off the third's, and so on; 0 is off"},
    {"draft_tokens", &SamplingParams::draft_tokens, 0, kMaxDraftTokens,
     "guesses so many tokens a step from what was said before; changes the time, never the answer; 0 is off"},
    {"draft_ngram", &SamplingParams::draft_ngram, 1, 16,
     "the longest end of the text that is looked up for such a guess, in tokens"},
};

Status check(const Setting& setting, double value) {
  if (value >= setting.low && value <= setting.high) return Status::ok();  // false for NaN
  return invalid_argument("{} must lie between {} and {}, found {}.", setting.name, setting.low, setting.high, value);
}

Status check_texts(std::string_view name, const std::vector<std::string>& texts, size_t most) {
  if (texts.size() > most) return invalid_argument("at most {} {} are allowed, found {}.", most, name, texts.size());
  for (const std::string& text : texts) {
    if (text.empty()) return invalid_argument("one of the {} is empty.", name);
    if (text.size() > kMaxStopBytes)
      return invalid_argument("one of the {} has {} bytes; at most {} are allowed.", name, text.size(), kMaxStopBytes);
  }
  return Status::ok();
}

Status check_tokens(std::string_view name, const std::vector<int32_t>& tokens) {
  if (tokens.size() > kMaxTokenIds)
    return invalid_argument("at most {} {} are allowed, found {}.", kMaxTokenIds, name, tokens.size());
  for (int32_t token : tokens) {
    if (token < 0) return invalid_argument("{} names the token {}; ids start at 0.", name, token);
  }
  return Status::ok();
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

bool SamplingParams::needs_vocabulary() const {
  return !bad_words.empty() || (has_dry() && !dry_sequence_breakers.empty());
}

Status SamplingParams::validate() const {
  for (const Setting& setting : kSettings) NEREID_RETURN_IF_ERROR(check(setting, get(*this, setting)));
  for (const auto& [token, bias] : logit_bias) {
    if (token < 0) return invalid_argument("logit_bias names the token {}; ids start at 0.", token);
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      return invalid_argument("the logit_bias of token {} must be a number or -inf, found {}.", token, bias);
    }
  }
  if (logit_bias.size() > kMaxTokenIds)
    return invalid_argument("at most {} entries of logit_bias are allowed, found {}.", kMaxTokenIds, logit_bias.size());
  if (stop.size() > kMaxStops)
    return invalid_argument("at most {} stop texts are allowed, found {}.", kMaxStops, stop.size());
  for (const std::string& text : stop) {
    if (text.empty()) return invalid_argument("a stop text is empty; it would end every answer at once.");
    if (text.size() > kMaxStopBytes)
      return invalid_argument("a stop text has {} bytes; at most {} are allowed.", text.size(), kMaxStopBytes);
  }
  NEREID_RETURN_IF_ERROR(check_texts("bad_words", bad_words, kMaxBadWords));
  NEREID_RETURN_IF_ERROR(check_texts("dry_sequence_breakers", dry_sequence_breakers, kMaxBreakers));
  for (const std::string& text : dry_sequence_breakers)
    if (text.size() > kMaxBreakerBytes)
      return invalid_argument("one of the dry_sequence_breakers has {} bytes; at most {} are allowed.", text.size(),
                              kMaxBreakerBytes);
  NEREID_RETURN_IF_ERROR(check_tokens("stop_token_ids", stop_token_ids));
  NEREID_RETURN_IF_ERROR(check_tokens("allowed_token_ids", allowed_token_ids));
  if (bad_token_ids.size() > kMaxBadWords)
    return invalid_argument("at most {} bad_token_ids are allowed, found {}.", kMaxBadWords, bad_token_ids.size());
  for (const std::vector<int32_t>& sequence : bad_token_ids) {
    NEREID_RETURN_IF_ERROR(check_tokens("bad_token_ids", sequence));
    if (sequence.empty() || sequence.size() > kMaxBadWordTokens)
      return invalid_argument("a sequence of bad_token_ids must have 1 to {} tokens, found {}.", kMaxBadWordTokens,
                              sequence.size());
  }
  if (min_tokens > max_tokens)
    return invalid_argument("min_tokens is {}, more than max_tokens, which is {}.", min_tokens, max_tokens);
  return Status::ok();
}

}  // namespace nereid::sample
