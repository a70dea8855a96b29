// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_call.h"

#include "base/clock.h"

namespace nereid::server::kserve {
namespace {

std::string text_of(grpc::string_ref text) {
  return {text.data(), text.size()};
}

}  // namespace

Status check_access(const GrpcOptions& options, const Metadata& metadata, ApiGroup group) {
  const std::string* header = options.restricted.header(group);
  if (header == nullptr) return Status::ok();
  const auto found = metadata.find(grpc::string_ref(header->data(), header->size()));
  if (found != metadata.end() && options.restricted.accepts(group, {found->second.data(), found->second.size()}))
    return Status::ok();
  return unavailable("This protocol is restricted, expecting header '{}'", *header);
}

CallMetadata::CallMetadata(const GrpcOptions& options, const Metadata& metadata) {
  if (options.forward_header)
    for (const auto& [name, value] : metadata) headers_.emplace_back(text_of(name), text_of(value));
  if (options.tracer == nullptr) return;
  const auto parent = metadata.find("traceparent");
  if (parent != metadata.end()) traceparent_ = text_of(parent->second);
}

Status CallMetadata::prepare(const GrpcOptions& options, const InferModel& model, int64_t begin_ns,
                             InferRequest* request) const {
  for (const auto& [name, value] : headers_) NEREID_RETURN_IF_ERROR(options.forward_header(name, value, request));
  request->arrival_ns = now_ns();
  if (options.tracer == nullptr) return Status::ok();
  request->trace = options.tracer->begin({.model = model.config().name,
                                          .version = model.version(),
                                          .request_id = request->id,
                                          .traceparent = traceparent_});
  if (request->trace == nullptr) return Status::ok();
  request->trace->mark(TraceMark::kGrpcWaitReadStart, begin_ns);
  request->trace->mark(TraceMark::kGrpcWaitReadEnd, request->arrival_ns);
  return Status::ok();
}

}  // namespace nereid::server::kserve
