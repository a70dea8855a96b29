// SPDX-License-Identifier: Apache-2.0
// Responses as bytes: heads and chunks.
#pragma once

#include <string>
#include <string_view>

#include "server/net/http.h"

namespace nereid::server::net {

// "Not Found"; "Unknown" for a status that has no name here.
std::string_view reason_phrase(int status);

// "HTTP/1.1 200 OK\r\n" and the headers, without the empty line. Line breaks in values become blanks: no header can
// bring in another.
void append_head(std::string* out, int status, const Headers& headers);
void append_header(std::string* out, std::string_view name, std::string_view value);
// "1a\r\n<bytes>\r\n"; nothing for no bytes, which would be the end.
void append_chunk(std::string* out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// "Mon, 30 Nov 2026 16:20:00 GMT"
std::string http_date(int64_t unix_s);

}  // namespace nereid::server::net
