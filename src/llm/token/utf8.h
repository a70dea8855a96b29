// SPDX-License-Identifier: Apache-2.0
// UTF-8: stepping through characters, and making any bytes valid.
//
// Everything after sanitize() may rely on valid UTF-8; next_char() still never reads past the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::token {

inline constexpr char32_t kReplacement = 0xFFFD;
inline constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";

// One decoded character: its code point and how many bytes it took (never 0 before the end).
// Bytes that are no character give kReplacement with valid == false; `size` is then the longest prefix of a character
// found there (the Unicode recommendation, what Python's and Rust's lossy decoders do), at least 1.
struct Char {
  char32_t code = 0;
  uint32_t size = 0;
  bool valid = true;
};
Char decode_char(std::string_view text, size_t position);

// Bytes of the character that starts with `lead`, as the lead byte promises (1 for a stray byte).
inline size_t promised_size(unsigned char lead) {
  return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
}

void append_char(std::string& out, char32_t code);

// Position of the first byte that is no part of a valid character, or npos.
size_t find_invalid(std::string_view text);
// `text` with each ill-formed part replaced by U+FFFD.
std::string sanitize(std::string_view text);

// How many bytes at the end of `text` begin a character that more bytes could still complete (0..3).
size_t incomplete_tail(std::string_view text);

}  // namespace nereid::token
