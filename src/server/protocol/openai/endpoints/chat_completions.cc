// SPDX-License-Identifier: Apache-2.0
// POST /v1/chat/completions
#include "server/protocol/openai/chat_answer.h"
#include "server/protocol/openai/chat_request.h"
#include "server/protocol/openai/endpoints/chat_prompt.h"
#include "server/protocol/openai/endpoints/generation.h"
#include "server/protocol/openai/endpoints/handlers.h"

namespace nereid::server::openai {
namespace {

void check_context(const ModelCard& card, ChatRequest* request, size_t prompt, FirstError* error) {
  const auto tokens = static_cast<int64_t>(prompt);
  int32_t& most = request->common.params.max_tokens;
  if (request->has_max_tokens && tokens + most > card.context_tokens)
    error->set(context_exceeded(card.context_tokens, tokens, most, "messages", "messages"));
  else if (tokens >= card.context_tokens)
    error->set(context_exceeded(card.context_tokens, tokens, 0, "messages", "messages"));
  else if (!request->has_max_tokens)
    most = static_cast<int32_t>(card.context_tokens - tokens);
}

}  // namespace

void chat_completions(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  ChatRequest parsed = read_chat(body, {request.body, service.random()}, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  FoundModel found = find_model(service, parsed.common.model, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  const ModelCard& card = found.model->card();
  if (!card.chats) {
    return send_error(*responder, {.http = 404,
                                   .message = fmt::format("`{}` is not a chat model and thus not supported in the "
                                                          "v1/chat/completions endpoint.",
                                                          found.name),
                                   .param = "model"});
  }

  const ToolUse use = tool_use(card);
  TextRequest one{.prompt = chat_tokens(*found.model, &parsed, &error),
                  .choices = parsed.common.n,
                  .priority = parsed.common.priority,
                  .timeout_us = parsed.common.timeout_us,
                  .user = parsed.common.user,
                  .adapter = found.adapter};
  if (!error.is_set()) check_context(card, &parsed, one.prompt.size(), &error);
  if (error.is_set()) return send_error(*responder, error.get());

  CommonRequest& common = parsed.common;
  const ToolSet& tools = parsed.tools;
  // A form the answer was asked to have binds it whole: there is no room for calls then, unless one must be made.
  const bool must_call = tools.choice == ToolChoice::kRequired || tools.choice == ToolChoice::kNamed;
  if (must_call || common.params.grammar.is_none()) {
    sample::GrammarSpec grammar = tool_grammar(tools, use.format, use.is_told);
    if (!grammar.is_none()) {
      common.params.grammar = std::move(grammar);
      common.grammar_param = tools.is_legacy ? "functions" : "tools";
    }
  }
  one.params = common.params;

  ChatAnswerOptions answer{
      .head = {random_id("chatcmpl-", 24, service.random), service.unix_s(), found.name, "nereid-" + service.version},
      .stream = {common.stream, common.include_usage, common.continuous_usage},
      .n = common.n,
      .logprobs = common.params.logprobs,
      .tokens_as_ids = common.tokens_as_ids,
      .prompt_tokens = static_cast<int64_t>(one.prompt.size()),
      .random = service.random};
  if (tools.is_used()) {
    answer.make_parser = [&] { return tool_parser(tools, use.format); };
    answer.markers = tool_markers(*found.model, *use.format);
    answer.is_legacy = tools.is_legacy;
    answer.id_prefix = use.format->id_prefix;
    answer.id_letters = use.format->id_letters;
    if (tools.is_legacy) answer.finish_with_calls = "function_call";
    if (tools.choice == ToolChoice::kNamed) answer.finish_with_calls = "stop";  // as OpenAI has it
    if (!tools.parallel) answer.max_calls = 1;
  }
  GenerationOptions generation{.model = found.model,
                               .is_stream = common.stream,
                               .id = answer.head.id,
                               .param = "messages",
                               .grammar_param = common.grammar_param};
  generation.text = make_chat_answer(*found.model, std::move(answer));
  generation.requests.push_back(std::move(one));
  Generation::run(std::move(generation), std::move(responder));
}

}  // namespace nereid::server::openai
