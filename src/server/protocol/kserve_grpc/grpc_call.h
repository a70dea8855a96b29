// SPDX-License-Identifier: Apache-2.0
// What a call's metadata is to a server: who may call, what the model is to know, and a trace to go on with.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/net/grpc/call.h"
#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

using net::grpc::Metadata;

// kUnavailable, as it always was: the group's header is not there or wrong.
Status check_access(const GrpcOptions& options, const Metadata& metadata, ApiGroup group);

// What of the metadata the requests of a call need; the call may be over before they are.
class CallMetadata {
 public:
  CallMetadata(const GrpcOptions& options, const Metadata& metadata);
  // Arrival, parameters from headers, the trace. kInvalidArgument as forward_header.
  Status prepare(const GrpcOptions& options, const InferModel& model, int64_t begin_ns, InferRequest* request) const;

 private:
  Metadata headers_;
  std::string traceparent_;
};

}  // namespace nereid::server::kserve
