// SPDX-License-Identifier: Apache-2.0
// Any bytes as a packed body and as a header: no more comes out than is allowed, and what is packed again comes back.
#include <cstdint>

#include "base/check.h"
#include "server/net/content_coding.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::server::net;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  constexpr int64_t kMost = 100'000;
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate}) {
    std::string plain;
    const auto error = decode(coding, bytes, kMost, &plain);
    NEREID_CHECK(error.has_value() || plain.size() <= static_cast<size_t>(kMost));
  }
  std::string again;
  NEREID_CHECK(!decode(Coding::kGzip, gzip(bytes), static_cast<int64_t>(size), &again).has_value() && again == bytes);
  (void)accepts_gzip(bytes);
  Request request{.headers = {{"Content-Encoding", std::string(bytes)}}};
  (void)decode_body(&request, kMost);
  return 0;
}
