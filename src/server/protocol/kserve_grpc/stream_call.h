// SPDX-License-Identifier: Apache-2.0
// ModelStreamInfer: many requests and their responses on one stream. Responses of models that answer once keep the
// order of the requests; those of decoupled models go out as they come. Errors are messages of the stream, which goes
// on, unless the client's metadata asks for a true status (triton_grpc_error).
#pragma once

#include <memory>

#include "server/core/running_count.h"
#include "server/protocol/kserve_grpc/grpc_call.h"

namespace nereid::server::kserve {

// `options` outlive it.
std::shared_ptr<net::grpc::CallHandler> make_stream_call(const GrpcOptions& options,
                                                         std::shared_ptr<RunningCount> calls,
                                                         net::grpc::CallHead&& head,
                                                         std::shared_ptr<net::grpc::Call> call);

}  // namespace nereid::server::kserve
