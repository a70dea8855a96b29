// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/huffman.h"

#include <array>
#include <cstdint>

namespace nereid::server::net::http2 {
namespace {

constexpr int kSymbols = 257, kLongest = 30, kEnd = 256;

// Bits of each symbol's code. The code is canonical: codes of one length follow each other in the order of the symbols,
// and each length goes on where the one before it ended, so that the lengths say all.
constexpr std::array<uint8_t, kSymbols> kBits = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,
    7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  8,  7,  8,  13, 19, 13, 14, 6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,
    5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24,
    24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22,
    23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26,
    27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23,
    22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,  // the end
};

struct Code {
  std::array<uint16_t, kSymbols> symbols{};    // by length, then by symbol
  std::array<uint32_t, kLongest + 2> first{};  // code of each length
  std::array<uint16_t, kLongest + 2> at{};     // its place in `symbols`
  std::array<uint16_t, kLongest + 2> count{};
};

constexpr Code make_code() {
  Code code;
  uint16_t at = 0;
  uint32_t next = 0;
  for (size_t bits = 1; bits <= kLongest; ++bits) {
    next <<= 1;
    code.first[bits] = next;
    code.at[bits] = at;
    for (size_t symbol = 0; symbol < kSymbols; ++symbol)
      if (kBits[symbol] == bits) code.symbols[at++] = static_cast<uint16_t>(symbol);
    code.count[bits] = static_cast<uint16_t>(at - code.at[bits]);
    next += code.count[bits];
  }
  return code;
}

constexpr Code kCode = make_code();

}  // namespace

bool huffman_decode(std::string_view bytes, std::string* out) {
  uint32_t code = 0;
  size_t bits = 0;
  bool is_ones = true;  // all bits of `code`
  for (const char byte : bytes) {
    for (int i = 7; i >= 0; --i) {
      const uint32_t bit = static_cast<unsigned char>(byte) >> i & 1u;
      code = code << 1 | bit;
      is_ones = is_ones && bit == 1;
      if (++bits > kLongest) return false;
      const uint32_t place = code - kCode.first[bits];
      if (code < kCode.first[bits] || place >= kCode.count[bits]) continue;
      const uint16_t symbol = kCode.symbols[kCode.at[bits] + place];
      if (symbol == kEnd) return false;
      out->push_back(static_cast<char>(symbol));
      code = 0;
      bits = 0;
      is_ones = true;
    }
  }
  return bits < 8 && is_ones;
}

}  // namespace nereid::server::net::http2
