// SPDX-License-Identifier: Apache-2.0
// ModelStreamInfer: many requests and their responses on one stream. Responses of models that answer once keep the
// order of the requests; those of decoupled models go out as they come. Errors are messages of the stream, which goes
// on, unless the client's metadata asks for a true status (triton_grpc_error).
#pragma once

#include <grpcpp/support/server_callback.h>

#include <memory>

#include "grpc_service.pb.h"
#include "server/core/running_count.h"
#include "server/protocol/kserve_grpc/grpc_call.h"

namespace nereid::server::kserve {

using StreamReactor = grpc::ServerBidiReactor<inference::ModelInferRequest, inference::ModelStreamInferResponse>;

// Lives until the stream is done. `options` outlive it.
StreamReactor* make_stream_reactor(const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
                                   const Metadata& metadata, bool errors_end_the_stream);

}  // namespace nereid::server::kserve
