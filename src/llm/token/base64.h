// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648) to bytes: tiktoken files and normalisation rules inside JSON are written so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nereid::token {

// Padding may be left out; nullopt if any character is none of the alphabet's or the length cannot be.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace nereid::token
