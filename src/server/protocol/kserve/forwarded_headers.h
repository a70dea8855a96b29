// SPDX-License-Identifier: Apache-2.0
// Headers that become parameters of a request: --http-header-forward-pattern and --grpc-header-forward-pattern.
#pragma once

#include "server/core/infer_request.h"
#include "server/net/name_pattern.h"

namespace nereid::server::kserve {

// Adds the header where its name matches, in place of a parameter of that name. kInvalidArgument: the
// name means something to the server.
Status forward_header(const net::NamePattern& pattern, std::string_view name, std::string_view value,
                      InferRequest* request);

}  // namespace nereid::server::kserve
