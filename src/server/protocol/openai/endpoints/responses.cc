// SPDX-License-Identifier: Apache-2.0
// POST /v1/responses
#include "server/protocol/openai/endpoints/chat_prompt.h"
#include "server/protocol/openai/endpoints/generation.h"
#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/response_answer.h"
#include "server/protocol/openai/response_request.h"

namespace nereid::server::openai {

void responses(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  ResponseRequest parsed = read_response(body, {request.body, service.random()}, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  FoundModel found = find_model(service, parsed.chat.common.model, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  TextRequest one = chat_request(service, found, &parsed.chat, &error);
  if (error.is_set()) return send_error(*responder, error.get());

  const ToolSet& tools = parsed.chat.tools;
  ResponseAnswerOptions answer{
      .head = {random_id("resp_", 24, service.random), service.unix_s(), found.name, "nereid-" + service.version},
      .is_stream = parsed.chat.common.stream,
      .random = service.random};
  const ToolUse use = tool_use(found.model->card());
  const ThoughtOptions thoughts = thought_options(*found.model, parsed.chat, one);
  answer.markers = answer_markers(*found.model, tools.is_used() ? use.format : nullptr, thoughts);
  answer.reader = AnswerReader(thoughts, tools.is_used() ? tool_parser(tools, use.format) : nullptr);
  if (tools.is_used()) {
    answer.id_prefix = use.format->id_prefix;
    answer.id_letters = use.format->id_letters;
    if (!tools.parallel) answer.max_calls = 1;
  }
  GenerationOptions generation{.model = found.model,
                               .is_stream = answer.is_stream,
                               .id = answer.head.id,
                               .param = "input",
                               .grammar_param = parsed.chat.common.grammar_param};
  answer.request = std::move(parsed);
  generation.text = make_response_answer(std::move(answer));
  generation.requests.push_back(std::move(one));
  Generation::run(std::move(generation), std::move(responder));
}

}  // namespace nereid::server::openai
