// SPDX-License-Identifier: Apache-2.0
// Connections and requests as bytes, for single exchanges and for the load alike.
#pragma once

#include "base/unique_fd.h"
#include "server/load/load_client.h"

namespace nereid::server::load {

// A blocking socket. kUnavailable: nobody answers.
Result<UniqueFd> connect_to(const LoadTarget& target);
std::string request_text(const LoadTarget& target, std::string_view method, std::string_view path,
                         std::string_view body, std::string_view api_key);

}  // namespace nereid::server::load
