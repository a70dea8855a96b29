// SPDX-License-Identifier: Apache-2.0
// One pass over the literal; each escape is a row or a run of digits.
#include "llm/chat/string_literal.h"

#include <charconv>

#include "llm/chat/utf8.h"

namespace nereid::chat {
namespace {

struct SimpleEscape {
  char letter;
  std::string_view text;
};
constexpr SimpleEscape kSimple[] = {{'n', "\n"}, {'t', "\t"},  {'r', "\r"}, {'a', "\a"}, {'b', "\b"}, {'f', "\f"},
                                    {'v', "\v"}, {'\\', "\\"}, {'\'', "'"}, {'"', "\""}, {'\n', ""}};

size_t hex_digits_of(char letter) {
  switch (letter) {
    case 'x':
      return 2;
    case 'u':
      return 4;
    case 'U':
      return 8;
    default:
      return 0;
  }
}

bool parse_hex(std::string_view digits, size_t count, int32_t* out) {
  if (digits.size() < count) return false;
  uint32_t v = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + count, v, 16);
  if (ec != std::errc() || end != digits.data() + count || v > 0x10FFFF) return false;
  *out = static_cast<int32_t>(v);
  return true;
}

}  // namespace

Result<std::string> decode_string_literal(std::string_view body) {
  std::string out;
  out.reserve(body.size());
  for (size_t i = 0; i < body.size();) {
    if (body[i] != '\\' || i + 1 >= body.size()) {
      out.push_back(body[i++]);
      continue;
    }
    const char letter = body[i + 1];
    bool done = false;
    for (const SimpleEscape& e : kSimple) {
      if (e.letter != letter) continue;
      out.append(e.text);
      i += 2;
      done = true;
      break;
    }
    if (done) continue;
    if (letter >= '0' && letter <= '7') {
      int32_t v = 0;
      size_t n = 1;
      for (; n <= 3 && i + n < body.size() && body[i + n] >= '0' && body[i + n] <= '7'; ++n)
        v = v * 8 + (body[i + n] - '0');
      append_code_point(&out, v);
      i += n;
      continue;
    }
    const size_t count = hex_digits_of(letter);
    if (count == 0) {
      if (letter == 'N') return invalid_argument("the escape \\N{{...}} (a character by its name) is not supported.");
      out.push_back(body[i++]);  // an unknown escape keeps its backslash
      continue;
    }
    int32_t v = 0;
    if (!parse_hex(body.substr(i + 2), count, &v)) {
      return invalid_argument("the escape \\{} needs {} hexadecimal digits of a code point.", letter, count);
    }
    i += 2 + count;
    int32_t low = 0;
    if (v >= 0xD800 && v < 0xDC00 && body.substr(i, 2) == "\\u" && parse_hex(body.substr(i + 2), 4, &low) &&
        low >= 0xDC00 && low < 0xE000) {
      v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    if (v >= 0xD800 && v < 0xE000)
      return invalid_argument("the escape names half a surrogate pair, which is no character.");
    append_code_point(&out, v);
  }
  return out;
}

}  // namespace nereid::chat
