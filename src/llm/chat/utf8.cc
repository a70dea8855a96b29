// SPDX-License-Identifier: Apache-2.0
// Code points, white space and case; the character properties come from utf8proc.
#include "llm/chat/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace nereid::chat {
namespace {

utf8proc_category_t category_of(int32_t c) {
  return c < 0 ? UTF8PROC_CATEGORY_CS : utf8proc_category(c);
}

// Python maps a few letters to more than one; utf8proc's simple mapping leaves them as they are.
std::string_view special_upper(int32_t c) {
  switch (c) {
    case 0xDF:
      return "SS";
    case 0x149:
      return "\xCA\xBCN";
    case 0x1F0:
      return "J\xCC\x8C";
    case 0xFB00:
      return "FF";
    case 0xFB01:
      return "FI";
    case 0xFB02:
      return "FL";
    case 0xFB03:
      return "FFI";
    case 0xFB04:
      return "FFL";
    case 0xFB05:
    case 0xFB06:
      return "ST";
    default:
      return {};
  }
}

void append_upper(std::string* out, std::string_view text, size_t i, CodePoint c) {
  if (c.value < 0) {
    out->append(text.substr(i, c.bytes));
  } else if (std::string_view special = special_upper(c.value); !special.empty()) {
    out->append(special);
  } else {
    append_code_point(out, utf8proc_toupper(c.value));
  }
}

void append_lower(std::string* out, std::string_view text, size_t i, CodePoint c) {
  if (c.value < 0) {
    out->append(text.substr(i, c.bytes));
  } else if (c.value == 0x130) {
    out->append("i\xCC\x87");
  } else {
    append_code_point(out, utf8proc_tolower(c.value));
  }
}

// Title case differs from upper case for a few letters (the sharp s becomes "Ss", digraphs have forms of their own).
void append_title(std::string* out, std::string_view text, size_t i, CodePoint c) {
  std::string_view special = c.value < 0 ? std::string_view() : special_upper(c.value);
  if (special.size() > 1 && is_ascii(special)) {
    out->push_back(special[0]);
    for (char letter : special.substr(1)) out->push_back(static_cast<char>(letter + ('a' - 'A')));
  } else if (c.value >= 0 && special.empty()) {
    append_code_point(out, utf8proc_totitle(c.value));
  } else {
    append_upper(out, text, i, c);
  }
}

}  // namespace

CodePoint code_point_at(std::string_view text, size_t offset) {
  if (offset >= text.size()) return {-1, 0};
  const auto first = static_cast<unsigned char>(text[offset]);
  if (first < 0x80) return {first, 1};
  utf8proc_int32_t value = -1;
  const auto* data = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + offset);
  const auto available = static_cast<utf8proc_ssize_t>(std::min<size_t>(4, text.size() - offset));
  const utf8proc_ssize_t n = utf8proc_iterate(data, available, &value);
  if (n <= 0) return {-1, 1};
  return {value, static_cast<size_t>(n)};
}

CodePoint code_point_before(std::string_view text, size_t end) {
  for (size_t back = 1; back <= 4 && back <= end; ++back) {
    if ((static_cast<unsigned char>(text[end - back]) & 0xC0) == 0x80) continue;
    const CodePoint c = code_point_at(text, end - back);
    if (c.bytes == back) return c;
    break;
  }
  return {-1, 1};
}

void append_code_point(std::string* text, int32_t code_point) {
  utf8proc_uint8_t buffer[4];
  const utf8proc_ssize_t n = utf8proc_encode_char(code_point, buffer);
  text->append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(n));
}

bool is_ascii(std::string_view text) {
  unsigned char seen = 0;
  for (char c : text) seen |= static_cast<unsigned char>(c);
  return seen < 0x80;
}

size_t count_code_points(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t n = 0;
  for (size_t i = 0; i < text.size(); i += code_point_at(text, i).bytes) ++n;
  return n;
}

size_t offset_of(std::string_view text, size_t n) {
  size_t i = 0;
  for (; n > 0 && i < text.size(); --n) i += code_point_at(text, i).bytes;
  return i;
}

std::vector<std::string_view> split_code_points(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t i = 0; i < text.size();) {
    const size_t n = code_point_at(text, i).bytes;
    out.push_back(text.substr(i, n));
    i += n;
  }
  return out;
}

bool is_space(int32_t c) {
  if (c < 0x80) return (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(int32_t c) {
  if (c == ' ') return true;
  switch (category_of(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_alphabetic(int32_t c) {
  const utf8proc_category_t k = category_of(c);
  return k >= UTF8PROC_CATEGORY_LU && k <= UTF8PROC_CATEGORY_LO;
}

bool is_digit(int32_t c) {
  return category_of(c) == UTF8PROC_CATEGORY_ND;
}

bool is_word(int32_t c) {
  const utf8proc_category_t k = category_of(c);
  return c == '_' || is_alphabetic(c) || (k >= UTF8PROC_CATEGORY_ND && k <= UTF8PROC_CATEGORY_NO);
}

bool is_upper(int32_t c) {
  return category_of(c) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(int32_t c) {
  return category_of(c) == UTF8PROC_CATEGORY_LL;
}

std::string_view strip(std::string_view text, Side side, const std::string_view* characters) {
  auto goes = [&](std::string_view bytes, CodePoint c) {
    if (!characters) return c.value >= 0 && is_space(c.value);
    for (size_t i = 0; i < characters->size();) {
      const size_t n = code_point_at(*characters, i).bytes;
      if (characters->substr(i, n) == bytes) return true;
      i += n;
    }
    return false;
  };
  if (static_cast<int>(side) & static_cast<int>(Side::kLeft)) {
    while (!text.empty()) {
      const CodePoint c = code_point_at(text, 0);
      if (!goes(text.substr(0, c.bytes), c)) break;
      text.remove_prefix(c.bytes);
    }
  }
  if (static_cast<int>(side) & static_cast<int>(Side::kRight)) {
    while (!text.empty()) {
      const CodePoint c = code_point_before(text, text.size());
      if (!goes(text.substr(text.size() - c.bytes), c)) break;
      text.remove_suffix(c.bytes);
    }
  }
  return text;
}

std::string to_upper(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    append_upper(&out, text, i, c);
    i += c.bytes;
  }
  return out;
}

std::string to_lower(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    append_lower(&out, text, i, c);
    i += c.bytes;
  }
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_word = false;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    in_word ? append_lower(&out, text, i, c) : append_title(&out, text, i, c);
    in_word = is_upper(c.value) || is_lower(c.value) || category_of(c.value) == UTF8PROC_CATEGORY_LT;
    i += c.bytes;
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  const CodePoint c = code_point_at(text, 0);
  if (c.bytes == 0) return out;
  append_title(&out, text, 0, c);
  return out + to_lower(text.substr(c.bytes));
}

std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  size_t start = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint c = code_point_at(text, i);
    const int32_t v = c.value;
    const bool ends = (v >= 10 && v <= 13) || (v >= 0x1C && v <= 0x1E) || v == 0x85 || v == 0x2028 || v == 0x2029;
    size_t next = i + c.bytes;
    if (ends) {
      if (v == '\r' && next < text.size() && text[next] == '\n') ++next;
      lines.push_back(text.substr(start, (keep_ends ? next : i) - start));
      start = next;
    }
    i = next;
  }
  if (start < text.size()) lines.push_back(text.substr(start));
  return lines;
}

}  // namespace nereid::chat
