// SPDX-License-Identifier: Apache-2.0
// Settings of traces and of the log, between the protocol's messages and the server's own.
#pragma once

#include "grpc_service.pb.h"
#include "server/protocol/kserve_grpc/grpc_server.h"

namespace nereid::server::kserve {

// Change what the request names, and answer with what is then in force. kInvalidArgument, kUnsupported, kUnavailable
// as the settings of HTTP.
Status exchange_trace_settings(const GrpcOptions& options, const inference::TraceSettingRequest& request,
                               inference::TraceSettingResponse* response);
Status exchange_log_settings(const GrpcOptions& options, const inference::LogSettingsRequest& request,
                             inference::LogSettingsResponse* response);

}  // namespace nereid::server::kserve
