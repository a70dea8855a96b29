// SPDX-License-Identifier: Apache-2.0
// POST /detokenize, in vLLM's shape: tokens to their text.
#include "server/protocol/openai/endpoints/handlers.h"
#include "server/protocol/openai/fields.h"
#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {

void detokenize(const Service& service, net::Request request, ResponderPtr responder) {
  FirstError error;
  const Json body = read_body(request.body, &error);
  Fields fields(body, &error);
  const std::string name = fields.text("model").value_or("");
  if (!error.is_set()) fields.require("tokens");
  const Json* list = fields.array("tokens");
  std::vector<int32_t> tokens;
  for (size_t i = 0; list && i < list->size() && !error.is_set(); ++i) {
    const Json& one = (*list)[i];
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > INT32_MAX)
      fields.fail(fmt::format("tokens[{}]", i), "invalid_type",
                  fmt::format("Invalid 'tokens[{}]': expected the id of a token.", i));
    else
      tokens.push_back(one.get<int32_t>());
  }
  if (error.is_set()) return send_error(*responder, error.get());
  const FoundModel found = find_model(service, name, &error);
  if (error.is_set()) return send_error(*responder, error.get());
  const Result<std::string> text = found.model->detokenize(tokens);
  if (!text.is_ok()) return send_error(*responder, api_error(text.status(), "tokens"));
  std::string out = R"({"prompt":)";
  append_json_string(&out, *text);
  responder->send(net::json_response(200, out += '}'));
}

}  // namespace nereid::server::openai
