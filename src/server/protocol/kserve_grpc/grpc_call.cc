// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/grpc_call.h"

#include "base/clock.h"

namespace nereid::server::kserve {

Status check_access(const GrpcOptions& options, const Metadata& metadata, ApiGroup group) {
  const std::string* header = options.restricted.header(group);
  if (header == nullptr) return Status::ok();
  const std::string* found = net::grpc::find_metadata(metadata, *header);
  if (found != nullptr && options.restricted.accepts(group, *found)) return Status::ok();
  return unavailable("This protocol is restricted, expecting header '{}'", *header);
}

CallMetadata::CallMetadata(const GrpcOptions& options, const Metadata& metadata) {
  if (options.forward_header) headers_ = metadata;
  if (options.tracer == nullptr) return;
  if (const std::string* parent = net::grpc::find_metadata(metadata, "traceparent")) traceparent_ = *parent;
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
