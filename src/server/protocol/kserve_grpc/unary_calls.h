// SPDX-License-Identifier: Apache-2.0
// The calls that are one question and one answer, inferences aside: tables of method, group and what answers it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/net/grpc/rpc_status.h"
#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

// On the connection's thread; on one of a few others, where it may look something up; on one of its own, where it may
// take as long as a model takes to load.
enum class CallRuns : uint8_t { kOnLoop, kOnWorker, kAlone };

struct UnaryRow {
  std::string_view path;  // "/inference.GRPCInferenceService/ServerLive"
  ApiGroup group;
  CallRuns runs;
  // Bytes of the question to bytes of the answer.
  net::grpc::RpcStatus (*answer)(const GrpcOptions& options, std::string_view request, std::string* response);
};

std::span<const UnaryRow> server_calls();      // health, metadata, configuration, statistics, settings
std::span<const UnaryRow> repository_calls();  // index, load, unload
std::span<const UnaryRow> memory_calls();      // shared memory

}  // namespace nereid::server::kserve
