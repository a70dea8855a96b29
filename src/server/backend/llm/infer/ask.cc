// SPDX-License-Identifier: Apache-2.0
#include "server/backend/llm/infer/ask.h"

#include <algorithm>
#include <random>

namespace nereid::server {
namespace {

// Nobody may rely on what a seed is that nobody gave.
uint64_t any_seed() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return generator();
}

Status take_guide(Ask* ask) {
  if (ask->guide_type.empty()) return Status::ok();
  const std::string name = ask->guide_type == "ebnf_grammar" ? "ebnf" : ask->guide_type;
  Result<sample::GrammarKind> kind = sample::grammar_kind_of(name);
  if (!kind.is_ok())
    return invalid_argument("'guided_decoding_guide_type' is json, json_schema, regex or ebnf_grammar; found '{}'",
                            ask->guide_type);
  ask->request.params.grammar = {*kind, ask->guide};
  return Status::ok();
}

// One token ends the answer by its number; several in a row by their text.
Status take_stop_ids(const TextModel& model, Ask* ask) {
  sample::SamplingParams& params = ask->request.params;
  for (const std::vector<int32_t>& ids : ask->stop_ids) {
    if (ids.size() == 1) {
      params.stop_token_ids.push_back(ids[0]);
      continue;
    }
    NEREID_TRY(std::string text, model.detokenize(ids).with("'stop_words_list'"));
    if (!text.empty()) params.stop.push_back(std::move(text));
  }
  return Status::ok();
}

Status take_bias(const TextModel& model, Ask* ask) {
  if (ask->bias_words.size() != ask->bias_weights.size())
    return invalid_argument("there are {} embedding_bias_words and {} embedding_bias_weights; each word needs one",
                            ask->bias_words.size(), ask->bias_weights.size());
  for (size_t i = 0; i < ask->bias_words.size(); ++i)
    for (const int32_t token : model.tokenize(ask->bias_words[i], false, true))
      ask->request.params.logit_bias[token] += ask->bias_weights[i];
  return Status::ok();
}

Status take_prompt(const TextModel& model, Ask* ask) {
  std::vector<int32_t>& prompt = ask->request.prompt;
  if (ask->is_text) {
    prompt = model.tokenize(ask->text, true, true);
  } else if (ask->prompt_tokens) {
    if (*ask->prompt_tokens < 0 || static_cast<size_t>(*ask->prompt_tokens) > prompt.size())
      return invalid_argument("'input_lengths' says {} tokens, but 'input_ids' holds {}", *ask->prompt_tokens,
                              prompt.size());
    prompt.resize(static_cast<size_t>(*ask->prompt_tokens));
  }
  return Status::ok();
}

void take_defaults(AskStyle style, Ask* ask) {
  sample::SamplingParams& params = ask->request.params;
  const bool is_vllm = style == AskStyle::kVllm;
  // Without a temperature: greedy, unless a filter of more than one token makes sense of drawing.
  if (!ask->has_temperature) {
    const bool draws = is_vllm || (ask->has_top_k && params.top_k > 1) || (ask->has_top_p && params.top_p < 1);
    params.temperature = draws ? 1.0F : 0.0F;
  }
  if (!ask->has_seed && is_vllm) params.seed = any_seed();
  if (!ask->has_max_tokens) params.max_tokens = is_vllm ? kVllmTokens : kPlainTokens;
  if (!ask->has_choices && params.beam_width > 1) ask->request.choices = params.beam_width;
  if (ask->wants_logprobs || ask->wants_token_logprobs || ask->wants_cumulative)
    params.logprobs = std::max(params.logprobs, 0);
  if (!ask->excludes_prompt) ask->excludes_prompt = style == AskStyle::kPlain || ask->streams;
}

}  // namespace

Status finish_ask(const TextModel& model, AskStyle style, Ask* ask) {
  take_defaults(style, ask);
  if (ask->streams && !*ask->excludes_prompt)
    return invalid_argument("When streaming, `exclude_input_in_output` = False is not allowed.");
  NEREID_RETURN_IF_ERROR(take_guide(ask));
  NEREID_RETURN_IF_ERROR(take_stop_ids(model, ask));
  NEREID_RETURN_IF_ERROR(take_bias(model, ask));
  return take_prompt(model, ask);
}

}  // namespace nereid::server
