// SPDX-License-Identifier: Apache-2.0
// GET /v1/models and /v1/models/{model}
#include <utility>

#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

// OpenAI's members first; those after "owned_by" are vLLM's and ours.
void append_model(std::string* out, const ModelCard& card, std::string_view name) {
  *out += R"({"id":)";
  append_json_string(out, name);
  *out += fmt::format(R"(,"object":"model","created":{},"owned_by":"nereid","root":)", card.created_s);
  append_json_string(out, card.name);
  *out += R"(,"parent":)";
  if (name == card.name)
    *out += "null";
  else
    append_json_string(out, card.name);
  *out += fmt::format(R"(,"max_model_len":{},"vocab_size":{},"capabilities":[)", card.context_tokens, card.vocab);
  bool is_first = true;
  const auto add = [&](bool has, std::string_view word) {
    if (!has) return;
    *out += fmt::format(R"({}"{}")", is_first ? "" : ",", word);
    is_first = false;
  };
  add(card.generates, "completions");
  add(card.chats, "chat");
  add(card.embeds, "embeddings");
  add(card.reranks, "rerank");
  *out += "]}";
}

}  // namespace

void list_models(const Service& service, net::Request, ResponderPtr responder) {
  std::string out = R"({"object":"list","data":[)";
  bool is_first = true;
  for (const auto& model : service.models->list()) {
    const ModelCard& card = model->card();
    if (!std::exchange(is_first, false)) out += ',';
    append_model(&out, card, card.name);
    for (const std::string& adapter : model->adapters()) {
      out += ',';
      append_model(&out, card, adapter);
    }
  }
  responder->send(net::json_response(200, out += "]}"));
}

void show_model(const Service& service, net::Request request, ResponderPtr responder) {
  const std::string* name = net::find_value(request.parameters, "model");
  const auto model = name ? service.models->find(*name) : nullptr;
  if (!model) return send_error(*responder, model_not_found(name ? *name : ""));
  std::string out;
  append_model(&out, model->card(), *name);
  responder->send(net::json_response(200, std::move(out)));
}

}  // namespace nereid::server::openai
