// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/handlers.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {
namespace {

net::Response empty(int status) {
  return {.status = status, .headers = {{"Content-Type", "text/plain"}}, .body = {}};
}

bool is_stopping(const Service& service) {
  return service.is_stopping && service.is_stopping();
}

}  // namespace

net::Response live(const Service& service, const net::Request&) {
  return empty(is_stopping(service) ? 503 : 200);
}

net::Response ready(const Service& service, const net::Request&) {
  return empty(is_stopping(service) ? 503 : service.is_ready() ? 200 : 400);
}

net::Response model_ready(const Service& service, const net::Request& request) {
  if (!version_of(request)) return no_such_path();
  const auto model = find_model(service, request);
  if (model.is_ok() && (*model)->is_ready()) return empty(200);
  return error_response(400, "Model version not ready");
}

}  // namespace nereid::server::kserve
