// SPDX-License-Identifier: Apache-2.0
// UTF-8 decoding by the table of well-formed sequences (Unicode 15, table 3-7).
#include "llm/token/utf8.h"

#include <algorithm>
#include <cstring>

namespace nereid::token {
namespace {

// Allowed range of the second byte for a lead byte; later bytes are always 80..BF.
struct SecondByte {
  unsigned char low, high;
};
SecondByte second_byte_range(unsigned char lead) {
  switch (lead) {
    case 0xE0:
      return {0xA0, 0xBF};
    case 0xED:
      return {0x80, 0x9F};
    case 0xF0:
      return {0x90, 0xBF};
    case 0xF4:
      return {0x80, 0x8F};
    default:
      return {0x80, 0xBF};
  }
}

// Bytes a well-formed character with this lead byte has; 0 if no character starts with it.
uint32_t well_formed_size(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// Length of the longest prefix of a well-formed character at `position` (at most its full size).
uint32_t matched_prefix(std::string_view text, size_t position, uint32_t size) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const size_t available = std::min<size_t>(size, text.size() - position);
  const SecondByte second = second_byte_range(byte(0));
  uint32_t n = 1;
  while (n < available) {
    const unsigned char low = n == 1 ? second.low : 0x80;
    const unsigned char high = n == 1 ? second.high : 0xBF;
    if (byte(n) < low || byte(n) > high) break;
    ++n;
  }
  return n;
}

size_t skip_ascii(std::string_view text, size_t i) {
  while (i + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) break;
    i += 8;
  }
  while (i < text.size() && static_cast<unsigned char>(text[i]) < 0x80) ++i;
  return i;
}

}  // namespace

Char decode_char(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[position + i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const uint32_t size = well_formed_size(static_cast<unsigned char>(lead));
  if (size == 0) return {kReplacement, 1, false};
  const uint32_t n = matched_prefix(text, position, size);
  if (n < size) return {kReplacement, n, false};
  if (size == 2) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2, true};
  if (size == 3) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3, true};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4, true};
}

void append_char(std::string& out, char32_t code) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

size_t find_invalid(std::string_view text) {
  for (size_t i = skip_ascii(text, 0); i < text.size(); i = skip_ascii(text, i)) {
    const Char c = decode_char(text, i);
    if (!c.valid) return i;
    i += c.size;
  }
  return std::string_view::npos;
}

std::string sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t bad = find_invalid(text);
    out.append(text.substr(0, bad));
    if (bad == std::string_view::npos) break;
    out.append(kReplacementUtf8);
    text.remove_prefix(bad + decode_char(text, bad).size);
  }
  return out;
}

size_t incomplete_tail(std::string_view text) {
  const size_t longest = std::min<size_t>(3, text.size());
  for (size_t back = 1; back <= longest; ++back) {
    const auto lead = static_cast<unsigned char>(text[text.size() - back]);
    if ((lead & 0xC0) == 0x80) continue;
    const uint32_t size = well_formed_size(lead);
    return size > back && matched_prefix(text, text.size() - back, size) == back ? back : 0;
  }
  return 0;
}

}  // namespace nereid::token
