// SPDX-License-Identifier: Apache-2.0
// Any bytes as a connection, in pieces: the same requests and the same frames whatever the pieces.
#include <cstdint>
#include <cstdlib>

#include "server/net/http2/test_session.h"

using namespace nereid::server::net::http2;

namespace {

std::string talk(std::string_view bytes, size_t step) {
  TestSession one({.stream_window = 4096,
                   .connection_window = 70'000,
                   .max_frame = 16'384,
                   .max_header_bytes = 512,
                   .max_streams = 8});
  one.feed(kPreface);
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(step, bytes.size()))) {
    one.feed(bytes.substr(0, step));
    if (step > 1) continue;
    out += one.lines();
  }
  for (auto& [id, request] : one.requests) {
    if (request.has_ended) one.answer(id, request.body);
  }
  out += one.lines();
  for (const auto& [id, request] : one.requests)
    out += fmt::format("{} {} {} {} {}\n", id, request.path, request.body, request.has_ended, request.broken);
  one.session.lose();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (talk(bytes, 1) != talk(bytes, size + 1)) std::abort();
  return 0;
}
