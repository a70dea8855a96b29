// SPDX-License-Identifier: Apache-2.0
// Content codings (RFC 9110, section 8.4): bodies of requests are undone within a bound, responses are made smaller for
// clients that say they can read it. zlib is behind it, in content_coding.cc alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/net/endpoint.h"
#include "server/net/http.h"

namespace nereid::server::net {

enum class Coding : uint8_t { kGzip, kDeflate };

// Appends what `bytes` stand for to `plain`, at most `most_bytes` in all; no more than that is ever held. An error is
// what the client is told: 400 for bytes that are no such coding, cut short, or followed by others; 413 for too many.
// kDeflate: with zlib's frame or, as some clients have it, without.
std::optional<HttpError> decode(Coding coding, std::string_view bytes, int64_t most_bytes, std::string* plain);
// Empty where there is no memory for it. kDeflate: with zlib's frame.
std::string pack(Coding coding, std::string_view bytes);
inline std::string gzip(std::string_view bytes) {
  return pack(Coding::kGzip, bytes);
}

// Undoes the request's Content-Encoding, whose header goes, within `most_bytes` and what its size makes likely; 415 for
// another than gzip, x-gzip, deflate or identity.
std::optional<HttpError> decode_body(Request* request, int64_t most_bytes);

// Whether a header Accept-Encoding allows gzip.
bool accepts_gzip(std::string_view accept_encoding);
// A responder that compresses whole responses of `least_bytes` and more if they are texts, on the thread that sends
// them. Streams go as they come: an event waits for no other.
std::shared_ptr<Responder> compressing(std::shared_ptr<Responder> responder, bool is_accepted, int64_t least_bytes);

}  // namespace nereid::server::net
