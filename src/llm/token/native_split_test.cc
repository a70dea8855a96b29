// SPDX-License-Identifier: Apache-2.0
// The hand-written splitters against the regular expressions they stand for, on random text.
#include "llm/token/native_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "llm/token/pattern.h"
#include "llm/token/pre_table.h"
#include "llm/token/split_parts.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

std::vector<std::string_view> split_by_regex(std::string_view regex, std::string_view text) {
  Result<Pattern> pattern = Pattern::compile(regex);
  EXPECT_TRUE(pattern.is_ok());
  Pattern::Matcher matcher(*pattern);
  std::vector<std::string_view> words;
  PartWriter parts(text, SplitBehavior::kIsolated, false, words);
  for (size_t from = 0; from < text.size();) {
    const Result<Span> match = matcher.find(text, from);
    EXPECT_TRUE(match.is_ok());
    if (match->begin == std::string_view::npos) break;
    parts.match(*match);
    from = match->end;
    if (match->begin == match->end) from += decode_char(text, from).size;
  }
  parts.finish();
  return words;
}

// Few kinds of characters, so that every neighbourhood of them turns up; now and then any character at all.
std::string random_text(std::mt19937& random, bool digits) {
  if (digits) {  // of the same meaning to both: the library's \b takes no marks for word characters
    constexpr std::string_view kPieces[] = {"1", "23", "456", "7890", " ", ".", "a", "_", "\xD9\xA3"};
    std::string text;
    for (size_t i = random() % 8 + 1; i > 0; --i) text += kPieces[random() % std::size(kPieces)];
    return text;
  }
  constexpr std::string_view kPieces[] = {"a",
                                          "B",
                                          "s",
                                          "t",
                                          "re",
                                          "LL",
                                          "1",
                                          "22",
                                          "'",
                                          "'s",
                                          "'S",
                                          "'\xC5\xBF",
                                          "\xC3\xA9",
                                          "\xE4\xBD\xA0",
                                          " ",
                                          "  ",
                                          "\n",
                                          "\r",
                                          "\r\n",
                                          "\t",
                                          "\xC2\xA0",
                                          "\xE3\x80\x80",
                                          ".",
                                          "!?",
                                          "_",
                                          "-",
                                          "\xC2\xBD",
                                          "\xCC\x81",
                                          "\xF0\x9F\xA6\x99",
                                          "\xE2\x80\x8D",
                                          "\xC2\x85"};
  std::string text;
  const size_t length = random() % 12 + 1;
  for (size_t i = 0; i < length; ++i) {
    if (random() % 8 == 0) {
      char32_t c = random() % 0x20000;
      if (c >= 0xD800 && c < 0xE000) c = 'x';
      append_char(text, c);
    } else {
      text += kPieces[random() % std::size(kPieces)];
    }
  }
  return text;
}

class NativeSplitter : public ::testing::TestWithParam<std::string_view> {};

TEST_P(NativeSplitter, splits_random_text_as_its_regular_expression_does) {
  const NativeSplit native = find_native_split(GetParam());
  ASSERT_NE(native, nullptr);
  std::mt19937 random(17);
  size_t refused = 0;
  // The two libraries' tables may be of different age: characters that one of them does not know prove nothing.
  const Result<Pattern> unknown = Pattern::compile(R"(\p{Cn})");
  ASSERT_TRUE(unknown.is_ok());
  Pattern::Matcher has_unknown(*unknown);
  for (int round = 0; round < 20000; ++round) {
    const std::string text = random_text(random, GetParam().find("{3})") != std::string_view::npos);
    if (has_unknown.find(text, 0)->begin != std::string_view::npos) continue;
    std::vector<std::string_view> words;
    if (!native(text, words)) {
      EXPECT_TRUE(words.empty());
      ++refused;
      continue;
    }
    ASSERT_EQ(words, split_by_regex(GetParam(), text)) << "seed 17, round " << round << ": '" << text << "'";
  }
  EXPECT_LT(refused, 10000u);
}

INSTANTIATE_TEST_SUITE_P(Patterns, NativeSplitter,
                         ::testing::Values(kGpt2Pattern, kLlama3Pattern, kQwen2Pattern, kDigitPattern,
                                           kDigitsFromRightPattern, kBeforeThreeDigitsPattern),
                         [](const auto& pattern) { return "pattern_" + std::to_string(pattern.index); });

}  // namespace
}  // namespace nereid::token
