// SPDX-License-Identifier: Apache-2.0
// Any bytes as header blocks of one connection: read within the limit, and what was read is written and read alike.
#include <cstdint>
#include <cstdlib>

#include "server/net/http2/hpack_decoder.h"
#include "server/net/http2/hpack_encoder.h"

using namespace nereid::server::net::http2;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMost = 2048;
  HpackDecoder decoder, second;
  HpackEncoder encoder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  // The first byte of each block is its length.
  while (!rest.empty()) {
    const std::string_view block = rest.substr(1, static_cast<unsigned char>(rest[0]));
    rest.remove_prefix(1 + block.size());
    HeaderFields fields, again;
    const auto outcome = decoder.decode(block, kMost, &fields);
    if (outcome == HpackDecoder::Outcome::kBroken) break;
    size_t bytes = 0;
    for (HeaderField& one : fields) {
      bytes += one.name.size() + one.value.size() + 32;
      one.is_common = one.value.size() % 2 == 1;
    }
    if (bytes > kMost) std::abort();
    std::string text;
    encoder.encode(fields, &text);
    if (second.decode(text, kMost, &again) != HpackDecoder::Outcome::kDone || again.size() != fields.size())
      std::abort();
    for (size_t i = 0; i < fields.size(); ++i)
      if (again[i].name != fields[i].name || again[i].value != fields[i].value) std::abort();
  }
  return 0;
}
