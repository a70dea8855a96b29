// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/json_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>

namespace nereid::server::openai {
namespace {

// 0: stands for itself; 'u': as \u00XX; 'x': begins or continues a character of several bytes; else the letter after \.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  for (size_t i = 0; i < 0x20; ++i) table[i] = 'u';
  for (size_t i = 0x80; i < 256; ++i) table[i] = 'x';
  table['"'] = '"';
  table['\\'] = '\\';
  table['\b'] = 'b';
  table['\f'] = 'f';
  table['\n'] = 'n';
  table['\r'] = 'r';
  table['\t'] = 't';
  table[0x7f] = 'u';
  return table;
}();

// Bytes of the character that begins here; 0 if these bytes are none (Unicode 15, table 3-7).
size_t character_bytes(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned first = at(0);
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && at(1) < 0x90) || (first == 0xf4 && at(1) > 0x8f)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

void append_json_escaped(std::string* out, std::string_view text) {
  size_t done = 0;
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const char escape = kEscapes[byte];
    if (escape == 0) {
      ++i;
      continue;
    }
    if (escape == 'x') {
      if (const size_t bytes = character_bytes(text.substr(i)); bytes > 0) {
        i += bytes;
        continue;
      }
    }
    out->append(text, done, i - done);
    done = ++i;
    if (escape == 'x')
      *out += "\xEF\xBF\xBD";
    else if (escape == 'u')
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", byte);
    else
      (*out += '\\') += escape;
  }
  out->append(text, done);
}

void append_json_string(std::string* out, std::string_view text) {
  *out += '"';
  append_json_escaped(out, text);
  *out += '"';
}

void append_int(std::string* out, int64_t value) {
  const fmt::format_int digits(value);
  out->append(digits.data(), digits.size());
}

void append_float(std::string* out, float value) {
  if (!std::isfinite(value)) value = -9999.0F;
  fmt::format_to(std::back_inserter(*out), "{}", value);
}

}  // namespace nereid::server::openai
