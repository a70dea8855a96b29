// SPDX-License-Identifier: Apache-2.0
// Any bytes as a response, in pieces: the same body whatever the pieces.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "server/load/response_reader.h"

namespace {

std::string read(std::string_view text, size_t step) {
  nereid::server::load::ResponseReader reader;
  nereid::server::load::EventReader events;
  std::string seen;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, step);
    const size_t taken = reader.feed(piece, [&](std::string_view body) {
      events.feed(body, [&](std::string_view event) { seen.append(event).append("\n"); });
    });
    text.remove_prefix(piece.size());
    if (taken < piece.size()) break;
  }
  reader.end();
  return seen + (reader.is_done() ? "done" : "failed") + std::to_string(reader.status());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (read(text, 1) != read(text, size + 1)) std::abort();
  return 0;
}
