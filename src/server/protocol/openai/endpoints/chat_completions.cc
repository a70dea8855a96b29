// SPDX-License-Identifier: Apache-2.0
// POST /v1/chat/completions
#include "server/protocol/openai/chat_answer.h"
#include "server/protocol/openai/chat_request.h"
#include "server/protocol/openai/endpoints/chat_prompt.h"
#include "server/protocol/openai/endpoints/generation.h"
#include "server/protocol/openai/endpoints/handlers.h"

namespace nereid::server::openai {
void chat_completions(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  ChatRequest parsed = read_chat(body, {request.body, service.random()}, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  FoundModel found = find_model(service, parsed.common.model, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  TextRequest one = chat_request(service, found, &parsed, &error);
  if (error.is_set()) return send_error(*responder, error.get());

  const CommonRequest& common = parsed.common;
  const ToolSet& tools = parsed.tools;
  const ToolUse use = tool_use(found.model->card());
  ChatAnswerOptions answer{
      .head = {random_id("chatcmpl-", 24, service.random), service.unix_s(), found.name, "nereid-" + service.version},
      .stream = {common.stream, common.include_usage, common.continuous_usage},
      .n = common.n,
      .logprobs = common.params.logprobs,
      .tokens_as_ids = common.tokens_as_ids,
      .prompt_tokens = static_cast<int64_t>(one.prompt.size()),
      .random = service.random};
  answer.thoughts = thought_options(*found.model, parsed, one);
  answer.markers = answer_markers(*found.model, tools.is_used() ? use.format : nullptr, answer.thoughts);
  if (tools.is_used()) {
    answer.make_parser = [&] { return tool_parser(tools, use.format); };
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
