// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/kserve_grpc/channel_arguments.h"

namespace nereid::server::kserve {

void apply_channel_arguments(std::span<const std::pair<std::string, int>> arguments,
                             net::http2::ServerOptions* options) {
  net::http2::KeepAlive& keep = options->keep_alive;
  for (const auto& [name, value] : arguments) {
    if (name == "grpc.keepalive_time_ms") keep.time_ms = value;
    if (name == "grpc.keepalive_timeout_ms") keep.timeout_ms = value;
    if (name == "grpc.keepalive_permit_without_calls") keep.without_streams = value != 0;
    if (name == "grpc.http2.max_pings_without_data") keep.most_pings_without_data = value;
    if (name == "grpc.http2.min_ping_interval_without_data_ms")
      options->limits.ping_interval_ns = int64_t{value} * 1'000'000;
    if (name == "grpc.http2.max_ping_strikes") options->limits.max_ping_strikes = value;
    if (name == "grpc.max_connection_age_ms") keep.max_age_ms = value;
    if (name == "grpc.max_connection_age_grace_ms") keep.max_age_grace_ms = value;
  }
}

}  // namespace nereid::server::kserve
