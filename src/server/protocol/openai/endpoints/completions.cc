// SPDX-License-Identifier: Apache-2.0
// POST /v1/completions
#include <algorithm>

#include "server/protocol/openai/completion_answer.h"
#include "server/protocol/openai/completion_request.h"
#include "server/protocol/openai/endpoints/fill_in.h"
#include "server/protocol/openai/endpoints/generation.h"
#include "server/protocol/openai/endpoints/handlers.h"

namespace nereid::server::openai {
namespace {

std::vector<int32_t> prompt_tokens(const TextModel& model, const CompletionRequest& request, const Prompt& prompt,
                                   FirstError* error) {
  std::vector<int32_t> tokens;
  const auto* text = std::get_if<std::string>(&prompt);
  if (request.suffix && text) {
    std::optional<std::vector<int32_t>> filled = fill_in_prompt(model, *text, *request.suffix);
    if (!filled)
      error->set({.message = "This model was not trained to fill in the middle; send a prompt without 'suffix'.",
                  .param = "suffix",
                  .code = "unsupported_parameter"});
    return filled.value_or(tokens);
  }
  if (request.suffix)
    error->set({.message = "'suffix' needs a prompt that is a text.", .param = "suffix", .code = "invalid_value"});
  tokens = text ? model.tokenize(*text, request.add_special_tokens, true) : std::get<std::vector<int32_t>>(prompt);
  const auto most = static_cast<size_t>(request.truncate_prompt_tokens);
  if (most > 0 && tokens.size() > most) tokens.erase(tokens.begin(), tokens.end() - static_cast<ptrdiff_t>(most));
  return tokens;
}

// The room there is for the answer; an error if that is less than what was asked for.
int32_t answer_tokens(const TextModel& model, const CompletionRequest& request, size_t prompt, FirstError* error) {
  const int64_t context = model.card().context_tokens;
  const auto tokens = static_cast<int64_t>(prompt);
  const int64_t wanted = request.common.params.max_tokens;
  if (tokens + wanted <= context || (tokens < context && shifts(model.card(), request.common)))
    return static_cast<int32_t>(wanted);
  if (!request.has_max_tokens && tokens < context) return static_cast<int32_t>(context - tokens);
  error->set(context_exceeded(context, tokens, wanted, "prompt", "prompt"));
  return 0;
}

Result<CompletionAnswerOptions::Echo> echo_of(const TextModel& model, const Prompt& prompt,
                                              const std::vector<int32_t>& tokens) {
  CompletionAnswerOptions::Echo echo{.text = "", .first_token = tokens.empty() ? -1 : tokens[0]};
  if (const auto* text = std::get_if<std::string>(&prompt)) {
    echo.text = *text;
  } else {
    NEREID_TRY(echo.text, model.detokenize(tokens));
  }
  return echo;
}

}  // namespace

void completions(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  CompletionRequest parsed = read_completion(body, {request.body, service.random()}, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  FoundModel found = find_model(service, parsed.common.model, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  if (!found.model->card().generates) {
    return send_error(*responder, {.http = 404,
                                   .message = fmt::format("The model `{}` writes no text and is not supported in the "
                                                          "v1/completions endpoint.",
                                                          found.name),
                                   .param = "model"});
  }

  const CommonRequest& common = parsed.common;
  CompletionAnswerOptions answer{
      .head = {random_id("cmpl-", 24, service.random), service.unix_s(), found.name, "nereid-" + service.version},
      .stream = {common.stream, common.include_usage, common.continuous_usage},
      .n = common.n,
      .logprobs = common.params.logprobs,
      .tokens_as_ids = common.tokens_as_ids,
      .prompts = parsed.prompts.size()};
  GenerationOptions generation{.model = found.model,
                               .is_stream = common.stream,
                               .id = answer.head.id,
                               .param = "prompt",
                               .grammar_param = common.grammar_param};
  for (const Prompt& prompt : parsed.prompts) {
    TextRequest one{.prompt = prompt_tokens(*found.model, parsed, prompt, &error),
                    .params = common.params,
                    .choices = common.n,
                    .prompt_logprobs = parsed.echo && common.params.logprobs >= 0,
                    .priority = std::min(common.priority, service.max_priority),
                    .timeout_us = common.timeout_us,
                    .user = common.user,
                    .adapter = found.adapter,
                    .shift_keep = common.shift_keep};
    one.params.max_tokens = answer_tokens(*found.model, parsed, one.prompt.size(), &error);
    if (parsed.best_of > common.n) one.params.best_of = parsed.best_of;
    if (parsed.echo) {
      Result<CompletionAnswerOptions::Echo> echo = echo_of(*found.model, prompt, one.prompt);
      if (!echo.is_ok()) error.set(api_error(echo.status(), "prompt"));
      if (echo.is_ok()) answer.echo.push_back(std::move(*echo));
    }
    if (error.is_set()) return send_error(*responder, error.get());
    answer.prompt_tokens += static_cast<int64_t>(one.prompt.size());
    generation.requests.push_back(std::move(one));
  }
  generation.text = make_completion_answer(*found.model, std::move(answer));
  Generation::run(std::move(generation), std::move(responder));
}

}  // namespace nereid::server::openai
