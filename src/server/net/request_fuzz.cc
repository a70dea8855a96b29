// SPDX-License-Identifier: Apache-2.0
// Any bytes as requests, in pieces: the same requests or the same refusal whatever the pieces, within the limits.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "server/net/request_parser.h"

namespace {

using namespace nereid::server::net;

std::string read(std::string_view text, size_t step) {
  Settings limits;
  limits.max_header_bytes = 1024;
  limits.max_body_bytes = 1024;
  limits.max_target_bytes = 256;
  std::string seen, kept;
  std::optional<RequestParser> parser(std::in_place, limits);
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, step);
    kept += piece;
    text.remove_prefix(piece.size());
    for (size_t taken = 1; taken > 0 && !kept.empty();) {
      taken = parser->feed(kept);
      kept.erase(0, taken);
      if (parser->state() == RequestParser::State::kFailed) return seen + std::to_string(parser->error().status);
      if (parser->state() != RequestParser::State::kDone) continue;
      const Request request = parser->take();
      if (request.body.size() > 1024 || request.target.size() > 256) std::abort();
      seen += request.method + " " + request.path + " " + request.body + "\n";
      parser.emplace(limits);
      taken = 1;
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (read(text, 1) != read(text, 4096)) std::abort();
  return 0;
}
