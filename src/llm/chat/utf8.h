// SPDX-License-Identifier: Apache-2.0
// Text as Python sees it: UTF-8 bytes counted, cut, folded and classified by code point.
//
// A byte that is no part of valid UTF-8 counts as one code point and passes through unchanged, so no input fails.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::chat {

struct CodePoint {
  int32_t value;  // -1 for a stray byte
  size_t bytes;   // 1..4; 0 only at the end of the text
};

CodePoint code_point_at(std::string_view text, size_t offset);
// The code point that ends at `end` (> 0).
CodePoint code_point_before(std::string_view text, size_t end);
void append_code_point(std::string* text, int32_t code_point);

bool is_ascii(std::string_view text);
size_t count_code_points(std::string_view text);
// Byte offset of the n-th code point; text.size() when there are fewer.
size_t offset_of(std::string_view text, size_t n);
// One view a code point.
std::vector<std::string_view> split_code_points(std::string_view text);

// str.isspace() of one code point.
bool is_space(int32_t code_point);
bool is_printable(int32_t code_point);
bool is_alphabetic(int32_t code_point);
bool is_word(int32_t code_point);   // \w: letters, digits and the underscore
bool is_digit(int32_t code_point);  // decimal digits
bool is_upper(int32_t code_point);
bool is_lower(int32_t code_point);

enum class Side { kLeft = 1, kRight = 2, kBoth = 3 };
// Without `characters` strips white space, else every code point that occurs in it.
std::string_view strip(std::string_view text, Side side, const std::string_view* characters = nullptr);

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
// str.title(): a letter after a non-letter is raised, the others lowered.
std::string to_title(std::string_view text);
std::string to_capitalized(std::string_view text);

// str.splitlines(): views without (or with) the line ends.
std::vector<std::string_view> split_lines(std::string_view text, bool keep_ends = false);

}  // namespace nereid::chat
