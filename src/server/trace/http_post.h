// SPDX-License-Identifier: Apache-2.0
// One POST in the clear, whose answer is only its status: for collectors of this network.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::trace {

// "http://HOST[:PORT][/PATH]". kInvalidArgument: another kind of address; kUnavailable: nobody answers within 10
// seconds, or not with 2xx.
Status http_post(const std::string& url, std::string_view content_type, std::string_view body);

}  // namespace nereid::server::trace
