// SPDX-License-Identifier: Apache-2.0
// Bytes as another program may have left them in Redis.
#include <cstdlib>

#include "server/cache/cached_response.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::server;
  const auto read = CachedResponse::parse(std::as_bytes(std::span(data, size)));
  if (read == nullptr) return 0;
  const std::string written = read->serialize();
  if (CachedResponse::parse(std::as_bytes(std::span(written))) == nullptr) std::abort();
  return 0;
}
