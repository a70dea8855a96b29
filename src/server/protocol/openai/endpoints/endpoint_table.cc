// SPDX-License-Identifier: Apache-2.0
// The endpoints, one row each.
#include "server/protocol/openai/endpoints/endpoint_table.h"

#include "server/protocol/openai/endpoints/handlers.h"

namespace nereid::server::openai {
namespace {

struct Row {
  std::string_view method;
  std::string_view pattern;
  void (*handle)(const Service& service, net::Request request, ResponderPtr responder);
  net::Access access;
  net::Runs runs;
  std::string_view summary;
};

using net::Access;
using net::Runs;

constexpr Row kRows[] = {
    {"GET", "/v1/models", list_models, Access::kKey, Runs::kOnWorker, "lists the models and adapters there are"},
    {"GET", "/v1/models/{model...}", show_model, Access::kKey, Runs::kOnWorker, "one model of that name"},
    {"POST", "/v1/completions", completions, Access::kKey, Runs::kOnWorker, "continues one or many prompts"},
    {"POST", "/v1/chat/completions", chat_completions, Access::kKey, Runs::kOnWorker,
     "answers a chat; tools, schemas, streaming"},
    {"POST", "/v1/responses", responses, Access::kKey, Runs::kOnWorker, "the same in OpenAI's newer form, unstored"},
    {"POST", "/v1/embeddings", embeddings, Access::kKey, Runs::kOnWorker, "vectors of texts"},
    {"POST", "/v1/rerank", rerank, Access::kKey, Runs::kOnWorker, "orders documents by how well they answer a query"},
    {"POST", "/v2/rerank", rerank, Access::kKey, Runs::kOnWorker, "the same, at Cohere's address"},
    {"POST", "/rerank", rerank, Access::kKey, Runs::kOnWorker, "the same, at vLLM's address"},
    {"POST", "/v1/score", score, Access::kKey, Runs::kOnWorker, "how well pairs of texts belong together"},
    {"POST", "/score", score, Access::kKey, Runs::kOnWorker, "the same, at vLLM's address"},
    {"POST", "/tokenize", tokenize, Access::kKey, Runs::kOnWorker, "the tokens of a text or of a chat"},
    {"POST", "/detokenize", detokenize, Access::kKey, Runs::kOnWorker, "the text of tokens"},
    {"POST", "/v1/load_lora_adapter", load_lora_adapter, Access::kKey, Runs::kOnWorker,
     "loads an adapter from the folder that --lora-folder names"},
    {"POST", "/v1/unload_lora_adapter", unload_lora_adapter, Access::kKey, Runs::kOnWorker,
     "unloads one; requests at hand end with it"},
    {"GET", "/", chat_page, Access::kOpen, Runs::kOnLoop, "a page to chat with the models"},
};

}  // namespace

std::vector<net::Endpoint> make_endpoints(std::shared_ptr<const Service> service) {
  std::vector<net::Endpoint> endpoints;
  for (const Row& row : kRows) {
    endpoints.push_back({.method = std::string(row.method),
                         .pattern = std::string(row.pattern),
                         .summary = std::string(row.summary),
                         .handle =
                             [service, handle = row.handle](net::Request request, ResponderPtr responder) {
                               handle(*service, std::move(request), std::move(responder));
                             },
                         .access = row.access,
                         .runs = row.runs});
  }
  return endpoints;
}

net::Response shape_error(const net::HttpError& error) {
  ApiError out{.http = error.status, .message = whole_sentence(error.message)};
  switch (error.status) {
    case 401:
      out.code = "invalid_api_key";
      break;
    case 404:
      out.code = "unknown_url";
      break;
    case 405:
      out.code = "method_not_supported";
      break;
    case 413:
      out.code = "request_too_large";
      break;
    default:
      if (error.status >= 500) out.type = "server_error";
  }
  return net::json_response(error.status, error_body(out));
}

}  // namespace nereid::server::openai
