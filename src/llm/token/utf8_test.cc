// SPDX-License-Identifier: Apache-2.0
#include "llm/token/utf8.h"

#include <gtest/gtest.h>

namespace nereid::token {
namespace {

TEST(Utf8, characters_of_every_length_decode) {
  const std::string text = "a\xC3\xA9\xE4\xBD\xA0\xF0\x9F\xA6\x99";
  const char32_t expected[] = {'a', 0xE9, 0x4F60, 0x1F999};
  size_t i = 0;
  for (const char32_t code : expected) {
    const Char c = decode_char(text, i);
    EXPECT_TRUE(c.valid);
    EXPECT_EQ(c.code, code);
    i += c.size;
  }
  EXPECT_EQ(i, text.size());
}

TEST(Utf8, appending_is_the_inverse_of_decoding) {
  for (char32_t code = 1; code < 0x110000; code += code < 0x800 ? 1 : 97) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append_char(text, code);
    EXPECT_EQ(find_invalid(text), std::string_view::npos);
    EXPECT_EQ(decode_char(text, 0).code, code);
    EXPECT_EQ(decode_char(text, 0).size, text.size());
  }
}

// As "...".decode("utf-8", errors="replace") of Python does.
TEST(Utf8, each_longest_broken_part_becomes_one_replacement_character) {
  const std::string r(kReplacementUtf8);
  EXPECT_EQ(sanitize("\xFF"), r);
  EXPECT_EQ(sanitize("a\x80z"), "a" + r + "z");
  EXPECT_EQ(sanitize("\xE4\xBD"), r);  // cut short
  EXPECT_EQ(sanitize("\xE4\xBDz"), r + "z");
  EXPECT_EQ(sanitize("\xC0\x80"), r + r);                  // overlong
  EXPECT_EQ(sanitize("\xED\xA0\x80"), r + r + r);          // a surrogate
  EXPECT_EQ(sanitize("\xF4\x90\x80\x80"), r + r + r + r);  // past U+10FFFF
  EXPECT_EQ(sanitize("\xF0\x9F\xA6"), r);
}

TEST(Utf8, valid_text_stays_as_it_is) {
  const std::string text = "plain, na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\xA6\x99";
  EXPECT_EQ(sanitize(text), text);
}

TEST(Utf8, only_a_character_that_can_still_be_completed_is_an_incomplete_tail) {
  EXPECT_EQ(incomplete_tail("abc"), 0u);
  EXPECT_EQ(incomplete_tail("a\xC3"), 1u);
  EXPECT_EQ(incomplete_tail("a\xE4\xBD"), 2u);
  EXPECT_EQ(incomplete_tail("\xF0\x9F\xA6"), 3u);
  EXPECT_EQ(incomplete_tail("\xF0\x9F\xA6\x99"), 0u);
  EXPECT_EQ(incomplete_tail("a\x80"), 0u);
  EXPECT_EQ(incomplete_tail("\xED\xA0"), 0u);  // nothing makes a surrogate valid
  EXPECT_EQ(incomplete_tail(""), 0u);
}

}  // namespace
}  // namespace nereid::token
