// SPDX-License-Identifier: Apache-2.0
// One function an endpoint, each in a file of its name; endpoint_table.cc lists them.
#pragma once

#include "server/net/http.h"
#include "server/protocol/openai/endpoints/service.h"

namespace nereid::server::openai {

using ResponderPtr = std::shared_ptr<net::Responder>;

void list_models(const Service& service, net::Request request, ResponderPtr responder);
void show_model(const Service& service, net::Request request, ResponderPtr responder);
void completions(const Service& service, net::Request request, ResponderPtr responder);
void chat_completions(const Service& service, net::Request request, ResponderPtr responder);
void responses(const Service& service, net::Request request, ResponderPtr responder);
void embeddings(const Service& service, net::Request request, ResponderPtr responder);
void rerank(const Service& service, net::Request request, ResponderPtr responder);
void score(const Service& service, net::Request request, ResponderPtr responder);
void tokenize(const Service& service, net::Request request, ResponderPtr responder);
void detokenize(const Service& service, net::Request request, ResponderPtr responder);
void load_lora_adapter(const Service& service, net::Request request, ResponderPtr responder);
void unload_lora_adapter(const Service& service, net::Request request, ResponderPtr responder);
void chat_page(const Service& service, net::Request request, ResponderPtr responder);

}  // namespace nereid::server::openai
