// SPDX-License-Identifier: Apache-2.0
// ModelInfer: one request, one response. Tensors are read where the request lies and sent from where a model left them.
#pragma once

#include <functional>
#include <memory>

#include "server/core/running_count.h"
#include "server/protocol/kserve_grpc/grpc_call.h"

namespace nereid::server::kserve {

// Runs something on another thread.
using RunElsewhere = std::function<void(std::function<void()>)>;

// `options` and `elsewhere` outlive it; what is so long that reading it takes time is read there.
std::shared_ptr<net::grpc::CallHandler> make_infer_call(const GrpcOptions& options, const RunElsewhere& elsewhere,
                                                        std::shared_ptr<RunningCount> calls, net::grpc::CallHead&& head,
                                                        std::shared_ptr<net::grpc::Call> call);

}  // namespace nereid::server::kserve
