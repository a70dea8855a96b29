// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648) to bytes: files in load requests are sent so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::server::kserve {

// Nothing for what is not base64; padding may be left out.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace nereid::server::kserve
