// SPDX-License-Identifier: Apache-2.0
// Character classes from utf8proc's category table, with a flat table for the first 2048 code points.
#include "llm/token/unicode.h"

#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool between(utf8proc_category_t c, utf8proc_category_t first, utf8proc_category_t last) {
  return c >= first && c <= last;
}

CharClass slow_char_class(char32_t c) {
  if (is_whitespace(c)) return CharClass::kSpace;
  if (is_letter(c)) return CharClass::kLetter;
  if (is_number(c)) return CharClass::kNumber;
  return category(c) == UTF8PROC_CATEGORY_CN ? CharClass::kUnassigned : CharClass::kOther;
}

constexpr size_t kFlatClasses = 0x800;
std::array<CharClass, kFlatClasses> make_flat_classes() {
  std::array<CharClass, kFlatClasses> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = slow_char_class(static_cast<char32_t>(c));
  return table;
}

int normal_form_options(NormalForm form) {
  switch (form) {
    case NormalForm::kNfc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    case NormalForm::kNfd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
    case NormalForm::kNfkc:
      return UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
    case NormalForm::kNfkd:
      return UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
  }
  return UTF8PROC_STABLE;
}

}  // namespace

bool is_letter(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}
bool is_number(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}
bool is_decimal(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_mark(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME);
}
bool is_nonspacing_mark(char32_t c) {
  return category(c) == UTF8PROC_CATEGORY_MN;
}
bool is_punctuation(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}
bool is_symbol(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SO);
}
bool is_control(char32_t c) {
  return between(category(c), UTF8PROC_CATEGORY_CC, UTF8PROC_CATEGORY_CO);
}

bool is_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_word(char32_t c) {
  const auto k = category(c);
  return between(k, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ME) || k == UTF8PROC_CATEGORY_ND ||
         k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_PC || c == 0x200C || c == 0x200D ||
         (c >= 0x24B6 && c <= 0x24E9);  // circled letters are alphabetic symbols
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_cjk_ideograph(char32_t c) {
  // The ranges of the original BERT tokenizer; 2B920 is what the Rust implementation and its models use.
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

CharClass char_class(char32_t c) {
  static const std::array<CharClass, kFlatClasses> flat = make_flat_classes();
  return c < kFlatClasses ? flat[c] : slow_char_class(c);
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

std::string to_lower(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (size_t i = 0; i < utf8.size();) {
    const Char c = decode_char(utf8, i);
    i += c.size;
    if (c.code == 0x130) {  // the one lower case that is two characters: i and a combining dot above
      append_char(out, 'i');
      append_char(out, 0x307);
    } else {
      append_char(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c.code))));
    }
  }
  return out;
}

std::string normal_form(std::string_view utf8, NormalForm form) {
  if (is_ascii(utf8)) return std::string(utf8);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t n =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(utf8.data()), static_cast<utf8proc_ssize_t>(utf8.size()),
                   &mapped, static_cast<utf8proc_option_t>(normal_form_options(form)));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(mapped, &std::free);
  // It fails only for ill-formed text (which never gets here) or without memory: the text then stays as it is.
  return n < 0 ? std::string(utf8) : std::string(reinterpret_cast<const char*>(mapped), static_cast<size_t>(n));
}

}  // namespace nereid::token
