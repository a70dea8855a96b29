// SPDX-License-Identifier: Apache-2.0
// ModelInfer: one request, one response. It works on the call's bytes, so that a tensor that a model has made is sent
// from where it lies.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <memory>

#include "server/core/running_count.h"
#include "server/protocol/kserve_grpc/grpc_call.h"

namespace nereid::server::kserve {

// The call's reactor, which lives until the call is over. `options` outlive it.
grpc::ServerUnaryReactor* start_infer_call(const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
                                           const Metadata& metadata, const grpc::ByteBuffer& request,
                                           grpc::ByteBuffer* response);

}  // namespace nereid::server::kserve
