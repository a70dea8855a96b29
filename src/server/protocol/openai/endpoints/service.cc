// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/endpoints/service.h"

namespace nereid::server::openai {

FoundModel find_model(const Service& service, std::string_view name, FirstError* error) {
  FoundModel found;
  if (name.empty()) {
    const auto all = service.models->list();
    if (!all.empty()) found = {all[0], all[0]->card().name, ""};
  } else {
    found = {service.models->find(name), std::string(name), ""};
  }
  if (!found.model)
    error->set(model_not_found(name));
  else if (!name.empty() && name != found.model->card().name)
    found.adapter = adapter_named(*found.model, name);
  return found;
}

net::Response json_error(const ApiError& error) {
  net::Response response = net::json_response(error.http, error_body(error));
  // Both may go well soon: the queue moves, a server comes back.
  if (error.http == 429 || error.http == 503) response.headers.set("Retry-After", "1");
  return response;
}

void send_error(net::Responder& responder, const ApiError& error) {
  responder.send(json_error(error));
}

}  // namespace nereid::server::openai
