// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/ask_names.h"

#include <algorithm>
#include <cmath>

namespace nereid::server {
namespace {

Result<double> number_of(std::string_view name, AskValues values) {
  if (values.size() != 1) return invalid_argument("'{}' takes one number, and {} were given", name, values.size());
  if (const auto* boolean = std::get_if<bool>(&values[0])) return *boolean ? 1.0 : 0.0;
  if (const auto* integer = std::get_if<int64_t>(&values[0])) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&values[0])) return *number;
  return invalid_argument("'{}' takes a number, and the text '{}' was given", name, std::get<std::string>(values[0]));
}

Result<int32_t> integer_of(std::string_view name, AskValues values) {
  NEREID_TRY(const double number, number_of(name, values));
  if (!(std::abs(number) <= INT32_MAX) || number != std::floor(number))
    return invalid_argument("'{}' takes a whole number of 32 bits, and {} was given", name, number);
  return static_cast<int32_t>(number);
}

Result<bool> boolean_of(std::string_view name, AskValues values) {
  NEREID_TRY(const double number, number_of(name, values));
  return number != 0;
}

Result<std::string> text_of(std::string_view name, AskValues values) {
  if (values.size() != 1) return invalid_argument("'{}' takes one text, and {} were given", name, values.size());
  const auto* text = std::get_if<std::string>(&values[0]);
  if (text == nullptr) return invalid_argument("'{}' takes a text, and something else was given", name);
  return *text;
}

// Empty ones are left out: clients send "" for none.
Result<std::vector<std::string>> texts_of(std::string_view name, AskValues values) {
  std::vector<std::string> texts;
  for (const InferParameter& one : values) {
    const auto* text = std::get_if<std::string>(&one);
    if (text == nullptr) return invalid_argument("'{}' takes texts, and something else was given", name);
    if (!text->empty()) texts.push_back(*text);
  }
  return texts;
}

Result<std::vector<int32_t>> integers_of(std::string_view name, AskValues values) {
  std::vector<int32_t> out;
  out.reserve(values.size());
  for (const InferParameter& one : values) {
    NEREID_TRY(const int32_t integer, integer_of(name, {&one, 1}));
    out.push_back(integer);
  }
  return out;
}

// Sequences of tokens as TensorRT-LLM has them: the tokens one after the other, then where each sequence ends, -1 for
// the rest.
Result<std::vector<std::vector<int32_t>>> word_ids_of(std::string_view name, AskValues values) {
  NEREID_TRY(const std::vector<int32_t> flat, integers_of(name, values));
  if (flat.size() % 2 != 0)
    return invalid_argument("'{}' holds tokens and, below them, where each word ends: its shape is [2, n]", name);
  const size_t n = flat.size() / 2;
  std::vector<std::vector<int32_t>> words;
  size_t begin = 0;
  for (size_t i = 0; i < n; ++i) {
    const int32_t end = flat[n + i];
    if (end < 0) continue;
    if (static_cast<size_t>(end) > n || static_cast<size_t>(end) < begin)
      return invalid_argument("'{}' says that a word ends at {}, but there are {} tokens", name, end, n);
    if (static_cast<size_t>(end) > begin)
      words.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(begin), flat.begin() + end);
    begin = static_cast<size_t>(end);
  }
  return words;
}

using Take = Status (*)(std::string_view name, AskValues values, Ask* ask);

template <bool Ask::*member>
Status take_flag(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->*member, boolean_of(name, values));
  return Status::ok();
}

template <std::string Ask::*member>
Status take_text(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->*member, text_of(name, values));
  return Status::ok();
}

Status take_nothing(std::string_view, AskValues, Ask*) {
  return Status::ok();
}

Status refuse(std::string_view name, AskValues values, Ask*) {
  const bool is_off = std::all_of(values.begin(), values.end(), [](const InferParameter& one) {
    if (const auto* boolean = std::get_if<bool>(&one)) return !*boolean;
    if (const auto* text = std::get_if<std::string>(&one)) return text->empty();
    return false;
  });
  if (is_off) return Status::ok();
  return unsupported("the input '{}' asks for what Nereid cannot do yet; leave it out", name);
}

Status take_input_ids(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.prompt, integers_of(name, values));
  ask->is_text = false;
  return Status::ok();
}

Status take_input_length(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->prompt_tokens, integer_of(name, values));
  return Status::ok();
}

Status take_max_tokens(std::string_view name, AskValues values, Ask* ask) {
  ask->has_max_tokens = true;
  NEREID_TRY(ask->request.params.max_tokens, integer_of(name, values));
  return Status::ok();
}

Status take_stop(std::string_view name, AskValues values, Ask* ask) {
  // TensorRT-LLM's input of that name is a switch: it ends the request with this id.
  if (values.size() == 1 && std::holds_alternative<bool>(values[0])) {
    ask->is_stop = std::get<bool>(values[0]);
    return Status::ok();
  }
  NEREID_TRY(ask->request.params.stop, texts_of(name, values));
  return Status::ok();
}

Status take_bad_words(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.params.bad_words, texts_of(name, values));
  return Status::ok();
}

Status take_stop_ids(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->stop_ids, word_ids_of(name, values));
  return Status::ok();
}

Status take_bad_ids(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.params.bad_token_ids, word_ids_of(name, values));
  return Status::ok();
}

Status take_stop_tokens(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const std::vector<int32_t> tokens, integers_of(name, values));
  auto& stops = ask->request.params.stop_token_ids;
  stops.insert(stops.end(), tokens.begin(), tokens.end());
  return Status::ok();
}

Status take_allowed_tokens(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.params.allowed_token_ids, integers_of(name, values));
  return Status::ok();
}

Status take_end(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const int32_t end, integer_of(name, values));
  if (end >= 0) {
    ask->request.params.stop_token_ids.push_back(end);
  } else {
    ask->request.params.ignore_eos = 1;
  }
  return Status::ok();
}

Status take_pad(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->pad, integer_of(name, values));
  return Status::ok();
}

Status take_excludes(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->excludes_prompt, boolean_of(name, values));
  return Status::ok();
}

Status take_choices(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.choices, integer_of(name, values));
  ask->has_choices = true;
  return Status::ok();
}

Status take_temperature(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const double value, number_of(name, values));
  ask->has_temperature = true;
  return sample::set(&ask->request.params, "temperature", value);
}

Status take_top_k(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const int32_t value, integer_of(name, values));
  ask->has_top_k = value > 0;  // -1 and 0: all tokens
  return sample::set(&ask->request.params, "top_k", std::max(0, value));
}

Status take_top_p(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const double value, number_of(name, values));
  ask->has_top_p = value > 0;  // 0: off
  return sample::set(&ask->request.params, "top_p", value <= 0 ? 1 : value);
}

Status take_seed(std::string_view name, AskValues values, Ask* ask) {
  ask->has_seed = true;
  // Any 64 bits, which a double would round.
  if (values.size() == 1 && std::holds_alternative<int64_t>(values[0])) {
    ask->request.params.seed = static_cast<uint64_t>(std::get<int64_t>(values[0]));
    return Status::ok();
  }
  NEREID_TRY(const double value, number_of(name, values));
  return sample::set(&ask->request.params, "seed", value);
}

Status take_logprobs(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const int32_t count, integer_of(name, values));
  return sample::set(&ask->request.params, "logprobs", count);
}

Status take_bias_words(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->bias_words, texts_of(name, values));
  return Status::ok();
}

Status take_bias_weights(std::string_view name, AskValues values, Ask* ask) {
  for (const InferParameter& one : values) {
    NEREID_TRY(const double weight, number_of(name, {&one, 1}));
    ask->bias_weights.push_back(static_cast<float>(weight));
  }
  return Status::ok();
}

// A number for each token of the vocabulary; most are 0.
Status take_bias(std::string_view name, AskValues values, Ask* ask) {
  for (size_t token = 0; token < values.size(); ++token) {
    NEREID_TRY(const double bias, number_of(name, values.subspan(token, 1)));
    if (bias != 0) ask->request.params.logit_bias[static_cast<int32_t>(token)] = static_cast<float>(bias);
  }
  return Status::ok();
}

Status take_adapter(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->request.adapter, text_of(name, values));
  return Status::ok();
}

Status take_parameters(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(const std::string json, text_of(name, values));
  if (json.empty()) return Status::ok();
  return take_json(json, ask).with("'sampling_parameters'");
}

Status take_prompt(std::string_view name, AskValues values, Ask* ask) {
  NEREID_TRY(ask->text, text_of(name, values));
  ask->is_text = true;
  return Status::ok();
}

struct NameRow {
  std::string_view name;
  Take take;
};

// By name, for the search.
constexpr NameRow kNames[] = {
    {"QUERY", take_prompt},
    {"allowed_token_ids", take_allowed_tokens},
    {"bad_words", take_bad_words},
    {"bad_words_list", take_bad_ids},
    {"beam_search_diversity_rate",
     [](std::string_view n, AskValues v, Ask* a) {
       NEREID_TRY(const double value, number_of(n, v));
       return sample::set(&a->request.params, "beam_diversity", value);
     }},
    {"context_phase_params", take_nothing},
    {"cross_attention_mask", refuse},
    {"decoder_input_ids", take_nothing},  // of models with an encoder; the preprocessing of all sends them
    {"decoder_input_lengths", take_nothing},
    {"decoder_text_input", take_nothing},
    {"draft_acceptance_threshold", take_nothing},
    {"draft_input_ids", take_nothing},  // guesses change the time, never the answer
    {"draft_logits", take_nothing},
    {"embedding_bias", take_bias},
    {"embedding_bias_weights", take_bias_weights},
    {"embedding_bias_words", take_bias_words},
    {"embedding_request", refuse},
    {"end_id", take_end},
    {"exclude_input_from_output", take_excludes},
    {"exclude_input_in_output", take_excludes},
    {"guided_decoding_guide", take_text<&Ask::guide>},
    {"guided_decoding_guide_type", take_text<&Ask::guide_type>},
    {"image", refuse},
    {"input_ids", take_input_ids},
    {"input_lengths", take_input_length},
    {"len_penalty",
     [](std::string_view n, AskValues v, Ask* a) {
       NEREID_TRY(const double value, number_of(n, v));
       return sample::set(&a->request.params, "length_penalty", value);
     }},
    {"logprobs", take_logprobs},
    {"lora_config", refuse},
    {"lora_name", take_adapter},
    {"lora_task_id", refuse},
    {"lora_weights", refuse},
    {"max_new_tokens", take_max_tokens},
    {"max_tokens", take_max_tokens},
    {"min_length",
     [](std::string_view n, AskValues v, Ask* a) {
       NEREID_TRY(const double value, number_of(n, v));
       return sample::set(&a->request.params, "min_tokens", value);
     }},
    {"n", take_choices},
    {"num_return_sequences", take_choices},
    {"pad_id", take_pad},
    {"prompt_embedding_table", refuse},
    {"prompt_table_extra_id", take_nothing},
    {"prompt_table_extra_ids", take_nothing},
    {"prompt_vocab_size", take_nothing},
    {"random_seed", take_seed},
    {"request_output_len", take_max_tokens},
    {"retention_decode_duration_ms", take_nothing},
    {"retention_decode_priority", take_nothing},
    {"retention_token_range_durations_ms", take_nothing},
    {"retention_token_range_ends", take_nothing},
    {"retention_token_range_priorities", take_nothing},
    {"retention_token_range_starts", take_nothing},
    {"return_context_logits", refuse},
    {"return_cumulative_logprob", take_flag<&Ask::wants_cumulative>},
    {"return_finish_reason", take_flag<&Ask::wants_finish>},
    {"return_generation_logits", refuse},
    {"return_kv_cache_reuse_stats", take_flag<&Ask::wants_times>},
    {"return_log_probs", take_flag<&Ask::wants_logprobs>},
    {"return_logprobs", take_flag<&Ask::wants_token_logprobs>},
    {"return_num_input_tokens", take_flag<&Ask::wants_input_count>},
    {"return_num_output_tokens", take_flag<&Ask::wants_output_count>},
    {"return_perf_metrics", take_flag<&Ask::wants_times>},
    {"runtime_top_k", take_top_k},
    {"runtime_top_p", take_top_p},
    {"runtime_top_p_decay", take_nothing},  // of samplers that its users have long left
    {"runtime_top_p_min", take_nothing},
    {"runtime_top_p_reset_ids", take_nothing},
    {"sampling_parameters", take_parameters},
    {"seed", take_seed},
    {"skip_cross_attn_blocks", refuse},
    {"skip_special_tokens", take_nothing},
    {"spaces_between_special_tokens", take_nothing},
    {"stop", take_stop},
    {"stop_token_ids", take_stop_tokens},
    {"stop_words", take_stop},
    {"stop_words_list", take_stop_ids},
    {"stream", take_flag<&Ask::streams>},
    {"streaming", take_flag<&Ask::streams>},
    {"temperature", take_temperature},
    {"text_input", take_prompt},
    {"top_k", take_top_k},
    {"top_p", take_top_p},
};
static_assert(std::ranges::is_sorted(kNames, {}, &NameRow::name));

}  // namespace

Status take_named(std::string_view name, AskValues values, Ask* ask) {
  const auto* row = std::ranges::lower_bound(kNames, name, {}, &NameRow::name);
  if (row != std::end(kNames) && row->name == name) return row->take(name, values, ask);
  for (const sample::Setting& setting : sample::setting_table()) {
    if (setting.name != name) continue;
    NEREID_TRY(const double value, number_of(name, values));
    return sample::set(&ask->request.params, name, value);
  }
  return not_found("a language model knows nothing called '{}'", name);
}

}  // namespace nereid::server
