// SPDX-License-Identifier: Apache-2.0
// ModelInfer: one request, one response. Tensors are read where the request lies and sent from where a model left them.
#pragma once

#include <memory>

#include "server/core/running_count.h"
#include "server/protocol/kserve_grpc/grpc_call.h"

namespace nereid::server::kserve {

// `options` outlive it.
std::shared_ptr<net::grpc::CallHandler> make_infer_call(const GrpcOptions& options, std::shared_ptr<RunningCount> calls,
                                                        net::grpc::CallHead&& head,
                                                        std::shared_ptr<net::grpc::Call> call);

}  // namespace nereid::server::kserve
