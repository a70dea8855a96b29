// SPDX-License-Identifier: Apache-2.0
// Both directions as tables built at compile time.
#include "llm/token/byte_stand_ins.h"

#include <array>
#include <cstdint>

#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

constexpr size_t kStandIns = 0x144;  // code points 0..U+0143

struct Tables {
  std::array<uint16_t, 256> of_byte{};
  std::array<int16_t, kStandIns> to_byte{};
};

constexpr Tables make_tables() {
  Tables t;
  for (int16_t& b : t.to_byte) b = -1;
  uint16_t next = 0x100;
  for (uint16_t byte = 0; byte < 256; ++byte) {
    const bool itself =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
    const uint16_t code = itself ? byte : next++;
    t.of_byte[byte] = code;
    t.to_byte[code] = static_cast<int16_t>(byte);
  }
  return t;
}
constexpr Tables kTables = make_tables();

}  // namespace

int byte_of_stand_in(char32_t c) {
  return c < kStandIns ? kTables.to_byte[c] : -1;
}
char32_t stand_in_of_byte(unsigned char byte) {
  return kTables.of_byte[byte];
}

bool append_unmapped(std::string_view text, std::string& out) {
  const size_t before = out.size();
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    char32_t code = lead;
    size_t size = 1;
    if (lead >= 0x80) {
      const Char c = decode_char(text, i);
      code = c.code;
      size = c.size;
    }
    const int byte = byte_of_stand_in(code);
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out.push_back(static_cast<char>(byte));
    i += size;
  }
  return true;
}

std::string map_bytes(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 4);
  for (const char c : bytes) append_char(out, stand_in_of_byte(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace nereid::token
