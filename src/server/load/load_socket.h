// SPDX-License-Identifier: Apache-2.0
// Connections and requests as bytes, for single exchanges and for the load alike.
#pragma once

#include "base/unique_fd.h"
#include "server/load/load_client.h"

namespace nereid::server::load {

// A blocking socket. kUnavailable: nobody answers.
Result<UniqueFd> connect_to(const LoadTarget& target);
// What a request's head says of its body, and headers besides, each with its line's end.
struct RequestBody {
  std::string_view type = "application/json", more = "";
};
std::string request_text(const LoadTarget& target, std::string_view method, std::string_view path,
                         std::string_view body, std::string_view api_key, const RequestBody& about = {});

}  // namespace nereid::server::load
