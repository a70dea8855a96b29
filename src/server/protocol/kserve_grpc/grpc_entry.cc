// SPDX-License-Identifier: Apache-2.0
// What libnereid_grpc.so shows: everything else of it is its own.
#include "server/protocol/kserve_grpc/grpc_library.h"

using namespace nereid;

// The name and the type are those of grpc_library.h.
extern "C" __attribute__((visibility("default"))) void nereid_grpc_start(
    const std::string& build, server::kserve::GrpcOptions&& options,
    Result<std::unique_ptr<server::kserve::GrpcServer>>* out) {
  const std::string ours = server::kserve::grpc_build(NEREID_VERSION);
  if (build != ours) {
    *out = unsupported("{} is of another build than the program: {} where the program has {}; install both together",
                       server::kserve::kGrpcLibrary, ours, build);
    return;
  }
  *out = server::kserve::GrpcServer::start(std::move(options));
}
