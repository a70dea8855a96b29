// SPDX-License-Identifier: Apache-2.0
// Character classes and mappings that tokenizers ask for, by the Unicode tables of utf8proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::token {

bool is_letter(char32_t c);           // L*
bool is_number(char32_t c);           // N*
bool is_decimal(char32_t c);          // Nd
bool is_mark(char32_t c);             // M*
bool is_nonspacing_mark(char32_t c);  // Mn
bool is_punctuation(char32_t c);      // P*
bool is_symbol(char32_t c);           // S*
bool is_control(char32_t c);          // Cc, Cf, Co, Cs
bool is_whitespace(char32_t c);       // the property White_Space
bool is_word(char32_t c);             // what \w matches: alphabetic, M*, Nd, Pc, joiners
bool is_ascii_punctuation(char32_t c);
bool is_cjk_ideograph(char32_t c);  // the ranges that BERT puts spaces around

// Classes a splitter needs, as one lookup. Unassigned: the tables here are older than the character may be.
enum class CharClass : uint8_t { kOther, kLetter, kNumber, kSpace, kUnassigned };
CharClass char_class(char32_t c);

bool is_ascii(std::string_view text);
// Lower case of every character on its own (no context: a final sigma stays a plain sigma).
std::string to_lower(std::string_view utf8);

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };
std::string normal_form(std::string_view utf8, NormalForm form);

}  // namespace nereid::token
