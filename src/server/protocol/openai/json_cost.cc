// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/json_cost.h"

namespace nereid::server::openai {
namespace {

// Of nlohmann's documents on a 64-bit machine with glibc's allocator (16 bytes and its own 8 at least).
constexpr int64_t kElement = 48;    // 16, in an array that doubles while its old half is still there
constexpr int64_t kMember = 112;    // a node of a map: 32 of its own, a key, a value, the allocator's
constexpr int64_t kString = 48;     // the object on the heap, beside its text
constexpr int64_t kContainer = 80;  // an array's or a map's, and the first place in it

}  // namespace

int64_t document_bytes(std::string_view json) {
  // Texts are counted whole: keys and strings are part of them.
  int64_t bytes = kElement + static_cast<int64_t>(json.size());
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
      continue;
    }
    switch (c) {
      case '"':
        in_string = true;
        bytes += kString;
        break;
      case ',':
        bytes += kElement;
        break;
      case ':':
        bytes += kMember - kElement;
        break;
      case '{':
      case '[':
        bytes += kContainer;
        break;
      default:
        break;
    }
  }
  return bytes;
}

}  // namespace nereid::server::openai
