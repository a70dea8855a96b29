// SPDX-License-Identifier: Apache-2.0
// What the program and libnereid_grpc.so agree on: one function, and that both are of one build.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>

#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

inline constexpr const char* kGrpcLibrary = "libnereid_grpc.so";
inline constexpr const char* kGrpcEntry = "nereid_grpc_start";

// `build` is the caller's grpc_build(). Starts a server, or says why not.
using GrpcEntry = void (*)(const std::string& build, GrpcOptions&& options, Result<std::unique_ptr<GrpcServer>>* out);

// The version, and how large what goes across is: within a version, layouts change while it is worked on.
inline std::string grpc_build(const char* version) {
  return fmt::format("{} {} {} {}", version, sizeof(GrpcOptions), sizeof(InferRequest), sizeof(ModelConfig));
}

}  // namespace nereid::server::kserve
