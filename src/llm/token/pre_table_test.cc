// SPDX-License-Identifier: Apache-2.0
#include "llm/token/pre_table.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "llm/token/splitter.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

Result<Splitter> splitter_of(const PreTokenizerRow& row) {
  std::vector<SplitStep> steps;
  for (const std::string_view p : row.patterns) {
    if (!p.empty()) steps.push_back({.kind = SplitKind::kPattern, .pattern = std::string(p), .regex = true});
  }
  return Splitter::make(steps, false);
}

std::vector<std::string> split(std::string_view row, std::string_view text) {
  const Result<Splitter> splitter = splitter_of(*find_pre_tokenizer(row));
  EXPECT_TRUE(splitter.is_ok()) << splitter.status().message();
  Splitter::Scratch scratch;
  EXPECT_TRUE(splitter->run(text, true, scratch).is_ok());
  return {scratch.words.begin(), scratch.words.end()};
}

using Words = std::vector<std::string>;

TEST(PreTokenizerTable, names_are_unique_and_the_first_row_is_the_default) {
  std::set<std::string_view> names;
  for (const PreTokenizerRow& row : pre_tokenizer_table()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_EQ(default_pre_tokenizer().name, "default");
  EXPECT_EQ(find_pre_tokenizer("no such thing"), nullptr);
}

TEST(PreTokenizerTable, every_row_compiles_and_its_words_make_up_the_text) {
  std::mt19937 random(5);
  for (const PreTokenizerRow& row : pre_tokenizer_table()) {
    const Result<Splitter> splitter = splitter_of(row);
    ASSERT_TRUE(splitter.is_ok()) << row.name << ": " << splitter.status().message();
    for (int round = 0; round < 200; ++round) {
      std::string text;
      for (size_t i = random() % 30 + 1; i > 0; --i) {
        const char32_t c = random() % 3 ? random() % 0x80 : random() % 0xD800;
        append_char(text, c);
      }
      Splitter::Scratch scratch;
      ASSERT_TRUE(splitter->run(text, true, scratch).is_ok()) << row.name;
      std::string joined;
      for (const std::string_view word : scratch.words) {
        EXPECT_FALSE(word.empty());
        joined += word;
      }
      ASSERT_EQ(joined, text) << row.name << ", seed 5, round " << round;
    }
  }
}

TEST(PreTokenizerTable, digits_come_one_by_one_by_threes_or_from_the_right) {
  EXPECT_EQ(split("smollm", "12345"), (Words{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(split("llama-bpe", "12345"), (Words{"123", "45"}));
  EXPECT_EQ(split("tiny_aya", "12345"), (Words{"12", "345"}));
  EXPECT_EQ(split("superbpe", "12345"), (Words{"12", "345"}));
  EXPECT_EQ(split("gpt-2", "12345"), (Words{"12345"}));
}

TEST(PreTokenizerTable, capital_letters_start_words_where_the_pattern_says_so) {
  EXPECT_EQ(split("gpt-4o", "camelCaseHTTP"), (Words{"camel", "Case", "HTTP"}));
  EXPECT_EQ(split("tekken", "camelCaseHTTP"), (Words{"camel", "Case", "HTTP"}));
  EXPECT_EQ(split("llama-bpe", "camelCaseHTTP"), (Words{"camelCaseHTTP"}));
}

TEST(PreTokenizerTable, han_characters_are_words_of_their_own_for_kimi) {
  EXPECT_EQ(split("kimi-k2", "abc\xE4\xBD\xA0\xE5\xA5\xBDxyz"), (Words{"abc", "\xE4\xBD\xA0\xE5\xA5\xBD", "xyz"}));
}

TEST(PreTokenizerTable, a_long_run_costs_no_more_than_its_length) {
  // Patterns that try again from each place would take minutes.
  const std::string texts[] = {std::string(1 << 17, '7'), std::string(1 << 17, ' '), std::string(1 << 17, 'a'),
                               std::string(1 << 17, '\n')};
  for (const PreTokenizerRow& row : pre_tokenizer_table()) {
    const Result<Splitter> splitter = splitter_of(row);
    ASSERT_TRUE(splitter.is_ok());
    for (const std::string& text : texts) {
      Splitter::Scratch scratch;
      EXPECT_TRUE(splitter->run(text, true, scratch).is_ok()) << row.name << " on '" << text[0] << "'";
    }
  }
}

}  // namespace
}  // namespace nereid::token
