// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/api_gate.h"

#include <fmt/format.h>

namespace nereid::server::kserve {

net::Handler gated(const RestrictedApis& restricted, ApiGroup group, net::ErrorShape shape, net::Handler handler) {
  if (restricted.header(group) == nullptr) return handler;
  return [restricted, group, header = *restricted.header(group), shape = std::move(shape),
          handler = std::move(handler)](net::Request request, std::shared_ptr<net::Responder> out) {
    if (restricted.accepts(group, request.headers.get(header))) return handler(std::move(request), std::move(out));
    out->send(shape({.status = 403,
                     .message = fmt::format("This API is restricted, expecting header '{}'", header),
                     .path = request.path}));
  };
}

}  // namespace nereid::server::kserve
