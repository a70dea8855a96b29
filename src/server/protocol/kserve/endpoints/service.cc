// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve/endpoints/service.h"

#include <charconv>

#include "base/clock.h"
#include "server/protocol/kserve/forwarded_headers.h"
#include "server/protocol/kserve/kserve_error.h"

namespace nereid::server::kserve {

std::optional<int64_t> version_of(const net::Request& request) {
  const std::string* text = net::find_value(request.parameters, "version");
  if (text == nullptr) return -1;
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), version);
  if (error != std::errc() || end != text->data() + text->size() || version < 0) return std::nullopt;
  return version;
}

Result<std::shared_ptr<InferModel>> find_model(const Service& service, const net::Request& request) {
  const std::optional<int64_t> version = version_of(request);
  if (!version) return not_found("Not Found");
  return service.models->find(*net::find_value(request.parameters, "model"), *version);
}

Status prepare(const Service& service, const net::Request& request, const InferModel& model, InferRequest* infer) {
  if (!service.forwarded.is_none())
    for (const auto& [name, value] : request.headers)
      NEREID_RETURN_IF_ERROR(forward_header(service.forwarded, name, value, infer));
  infer->arrival_ns = request.received_ns;
  if (service.tracer == nullptr) return Status::ok();
  infer->trace = service.tracer->begin({.model = model.config().name,
                                        .version = model.version(),
                                        .request_id = infer->id,
                                        .traceparent = request.headers.get("traceparent")});
  if (infer->trace == nullptr) return Status::ok();
  infer->trace->mark(TraceMark::kHttpRecvStart, request.begin_ns);
  infer->trace->mark(TraceMark::kHttpRecvEnd, request.received_ns);
  return Status::ok();
}

net::Response no_such_path() {
  return error_response(404, "Not Found");
}

}  // namespace nereid::server::kserve
