// SPDX-License-Identifier: Apache-2.0
// Settings of connections by the names that gRPC's own library gives them.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "server/net/http2/server.h"

namespace nereid::server::kserve {

// Those that are not known, or of no effect here, change nothing.
void apply_channel_arguments(std::span<const std::pair<std::string, int>> arguments,
                             net::http2::ServerOptions* options);

}  // namespace nereid::server::kserve
