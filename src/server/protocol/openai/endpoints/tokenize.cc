// SPDX-License-Identifier: Apache-2.0
// POST /tokenize, in vLLM's shape: a text or a chat to tokens.
#include "server/protocol/openai/endpoints/chat_prompt.h"
#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/json_text.h"
#include "server/protocol/openai/logprobs.h"

namespace nereid::server::openai {
namespace {

std::vector<int32_t> read_tokens(const TextModel& model, const Json& body, std::string_view text, FirstError* error) {
  Fields fields(body, error);
  if (fields.has("messages")) {
    ChatRequest chat = read_chat(body, {.body = text}, error);
    return error->is_set() ? std::vector<int32_t>() : chat_tokens(model, &chat, error);
  }
  // llama.cpp's server calls it "content".
  const std::optional<std::string> prompt =
      fields.has("content") ? fields.text("content") : fields.required_text("prompt");
  const bool add_special = fields.boolean("add_special_tokens").value_or(true);
  return prompt ? model.tokenize(*prompt, add_special, true) : std::vector<int32_t>();
}

}  // namespace

void tokenize(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  Fields fields(body, &error);
  const std::string name = fields.text("model").value_or("");
  const bool with_texts = fields.boolean("return_token_strs").value_or(false);
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  const std::vector<int32_t> tokens = read_tokens(*found.model, body, request.body, &error);
  if (error.is_set()) return send_error(*responder, error.get());

  std::string ids, texts;
  const TokenNames names(*found.model, false);
  for (const int32_t token : tokens) {
    if (!ids.empty()) ids += ',';
    append_int(&ids, token);
    if (!with_texts) continue;
    if (!texts.empty()) texts += ',';
    append_json_string(&texts, names.name(token));
  }
  responder->send(net::json_response(
      200, fmt::format(R"({{"count":{},"max_model_len":{},"tokens":[{}],"token_strs":{}}})", tokens.size(),
                       found.model->card().context_tokens, ids, with_texts ? "[" + texts + "]" : "null")));
}

}  // namespace nereid::server::openai
