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
#include "llm/sample/grammar_spec.h"

namespace nereid::sample {

// The defaults change nothing: greedy, no penalties, no end but the model's own.
struct SamplingParams {
  float temperature = 0.0F;        // 0: greedy
  float dynatemp_range = 0.0F;     // 0: off; the temperature varies by so much with the entropy
  float dynatemp_exponent = 1.0F;  // how it varies: share of the greatest entropy to this power
  int32_t top_k = 0;               // 0: off
  float top_p = 1.0F;              // 1: off
  float min_p = 0.0F;              // 0: off
  float typical_p = 1.0F;          // 1: off
  float top_n_sigma = 0.0F;        // 0: off
  float xtc_probability = 0.0F;    // 0: off
  float xtc_threshold = 0.1F;      // above 0.5: off
  int32_t mirostat = 0;            // 0: off; 1, 2: the version; takes the place of every filter
  float mirostat_tau = 5.0F;       // the surprise to hold, in bits
  float mirostat_eta = 0.1F;       // how fast it is corrected
  float repetition_penalty = 1.0F;
  float presence_penalty = 0.0F;
  float frequency_penalty = 0.0F;
  int32_t penalty_last_n = 64;       // tokens looked back at; -1: all of them, 0: penalties off
  float dry_multiplier = 0.0F;       // 0: off
  float dry_base = 1.75F;            // the penalty is multiplier * base^(length - allowed length)
  int32_t dry_allowed_length = 2;    // repeats that are shorter cost nothing
  int32_t dry_penalty_last_n = -1;   // tokens looked back at; -1: all of them, 0: off
  int32_t no_repeat_ngram_size = 0;  // 0: off; no n tokens in a row come twice in prompt and answer
  uint64_t seed = 0;
  int32_t logprobs = -1;  // -1: none; 0: of the token drawn; k: and of the k likeliest
  int32_t max_tokens = std::numeric_limits<int32_t>::max();
  int32_t min_tokens = 0;       // no end-of-text token before so many
  int32_t ignore_eos = 0;       // 1: never draw an end-of-text token
  int32_t best_of = 0;          // answers drawn, of which the likeliest are given; 0: as many as are wanted
  int32_t beam_width = 0;       // beams; 0, 1: no beam search (beam_search.h). Temperature and filters do not apply
  float length_penalty = 1.0F;  // a beam's score is its log-probability / length^this
  int32_t early_stopping = 0;   // how beam search ends: 1 soonest, 0, 2 latest (beam_search.cc)
  float beam_diversity = 0.0F;  // taken off the score of a beam's k-th continuation, k times
  int32_t draft_tokens = 0;     // speculation: tokens guessed a step; 0: off. Changes the time, never the tokens
  int32_t draft_ngram = 3;      // the longest end of the text that is looked up for a guess
  std::map<int32_t, float> logit_bias;              // added to the token's logit; -inf bans it
  std::vector<std::string> stop;                    // texts that end the answer
  std::vector<int32_t> stop_token_ids;              // tokens that end the answer, beside the model's own
  std::vector<int32_t> allowed_token_ids;           // only these and end tokens are drawn; empty: all are
  std::vector<std::string> bad_words;               // texts that the answer never holds
  std::vector<std::vector<int32_t>> bad_token_ids;  // sequences of tokens that the answer never holds
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};  // no repeat goes across one
  GrammarSpec grammar;  // what the answer must look like (grammar.h)

  bool is_greedy() const { return temperature == 0.0F; }
  bool has_penalties() const;
  bool has_dry() const { return dry_multiplier > 0.0F && dry_penalty_last_n != 0; }
  bool is_beam_search() const { return beam_width > 1; }
  // The steps need the bytes of tokens: Sampler::make must be given the vocabulary.
  bool needs_vocabulary() const;
  // Errors: kInvalidArgument with the setting's name, bounds and value.
  Status validate() const;
};

constexpr size_t kMaxStops = 64;
constexpr size_t kMaxStopBytes = 1024;
constexpr size_t kMaxBadWords = 256;       // of each kind
constexpr size_t kMaxBadWordTokens = 256;  // in one sequence
constexpr size_t kMaxBreakers = 64;
constexpr size_t kMaxBreakerBytes = 64;  // a step looks for each in the whole history
constexpr size_t kMaxTokenIds = 4096;    // of logit_bias, stop_token_ids and allowed_token_ids each
constexpr int32_t kMaxBeams = 64;
constexpr int32_t kMaxBestOf = 128;
constexpr int32_t kMaxDraftTokens = 64;

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
