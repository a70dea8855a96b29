// SPDX-License-Identifier: Apache-2.0
// Starts the server that libnereid_grpc.so holds.
#pragma once

#include <string>
#include <vector>

#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

// Errors as GrpcServer::start; kUnsupported: there is no such library, or it is of another build.
Result<std::unique_ptr<GrpcServer>> load_grpc(GrpcOptions options);

// Where the library of the program in `folder` may lie, in the order they are tried.
std::vector<std::string> grpc_library_paths(const std::string& folder);
// The library at the first of these paths that is there.
Result<std::unique_ptr<GrpcServer>> load_grpc_from(const std::vector<std::string>& paths, GrpcOptions options);

}  // namespace nereid::server::kserve
