// SPDX-License-Identifier: Apache-2.0
// What holds for every text, and the rules at the edges: special tokens, streaming, end tokens.
#include "llm/token/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "llm/token/source_gguf.h"
#include "llm/token/source_huggingface.h"
#include "llm/token/source_sentencepiece.h"
#include "llm/token/test_files.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

using Ids = std::vector<int32_t>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::unique_ptr<Tokenizer> make(TokenizerSpec spec) {
  Result<std::unique_ptr<Tokenizer>> made = make_tokenizer(std::move(spec));
  EXPECT_TRUE(made.is_ok()) << made.status().message();
  return made.is_ok() ? std::move(made).value() : nullptr;
}

// All bytes, then the words given: byte-level BPE in which any two neighbours whose joined bytes are a word merge.
TokenizerSpec byte_level_spec(const std::vector<std::string>& words) {
  TokenizerSpec spec;
  spec.byte_level = true;
  spec.merge_by_score = true;
  const auto add = [&](std::string_view token) {
    spec.scores.push_back(-static_cast<float>(spec.tokens.size()));
    spec.tokens.add(token);
    spec.types.push_back(TokenType::kNormal);
  };
  for (int b = 0; b < 256; ++b) add(std::string(1, static_cast<char>(b)));
  for (const std::string& word : words) add(word);
  spec.pre_tokenizer.push_back({.kind = SplitKind::kByteLevel, .regex = true});
  return spec;
}

int32_t add_special(TokenizerSpec& spec, std::string_view text, bool special = true) {
  const auto id = static_cast<int32_t>(spec.tokens.size());
  spec.tokens.add(text);
  spec.types.push_back(special ? TokenType::kControl : TokenType::kUserDefined);
  spec.scores.push_back(0);
  spec.added.push_back({.id = id, .text = std::string(text), .special = special});
  return id;
}

// Characters spelled with byte tokens, SentencePiece's way.
TokenizerSpec metaspace_spec() {
  TokenizerSpec spec;
  spec.merge_by_score = true;
  spec.byte_fallback = true;
  const auto add = [&](std::string_view token, TokenType type, float score) {
    spec.tokens.add(token);
    spec.types.push_back(type);
    spec.scores.push_back(score);
  };
  for (int b = 0; b < 256; ++b) add(fmt::format("<0x{:02X}>", b), TokenType::kByte, 0);
  add("\xE2\x96\x81", TokenType::kNormal, -1);
  add("a", TokenType::kNormal, -2);
  add("b", TokenType::kNormal, -3);
  add("\xE2\x96\x81"
      "a",
      TokenType::kNormal, -4);
  NormalizerStep step{.kind = NormalizerKind::kSentencePiece};
  step.prepend_space = step.escape_spaces = true;
  spec.normalizer.push_back(step);
  DecoderStep decoder{.kind = DecoderKind::kSentencePiece};
  decoder.content = "\xE2\x96\x81";
  decoder.start = 1;
  spec.decoder = {decoder, {.kind = DecoderKind::kByteFallback}};
  return spec;
}

std::string stream(const Tokenizer& tokenizer, const Ids& ids, std::vector<std::string>* parts = nullptr) {
  IncrementalDetokenizer detokenizer(tokenizer);
  std::string text;
  const auto take = [&](std::string part) {
    if (parts) parts->push_back(part);
    EXPECT_EQ(find_invalid(part), std::string_view::npos) << "half a character was given out";
    text += part;
  };
  for (const int32_t id : ids) take(detokenizer.push(id));
  take(detokenizer.flush());
  return text;
}

std::string random_bytes(std::mt19937& random) {
  std::string text;
  for (size_t i = random() % 40; i > 0; --i) {
    if (random() % 2) {
      text.push_back(static_cast<char>(random() % 128));
    } else if (random() % 3) {
      append_char(text, random() % 0xD800);
    } else {
      text.push_back(static_cast<char>(random()));
    }
  }
  return text;
}

TEST(Tokenizer, byte_level_text_comes_back_with_ill_formed_bytes_replaced) {
  const auto tokenizer = make(byte_level_spec({"th", "the", " t", "  ", "\xC3\xA9"}));
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    const std::string text = random_bytes(random);
    const Ids ids = tokenizer->encode(text);
    ASSERT_EQ(tokenizer->decode(ids), sanitize(text)) << "seed 3, round " << round;
    ASSERT_EQ(stream(*tokenizer, ids), sanitize(text)) << "seed 3, round " << round;
  }
}

TEST(Tokenizer, byte_fallback_text_comes_back_with_ill_formed_bytes_replaced) {
  const auto tokenizer = make(metaspace_spec());
  std::mt19937 random(4);
  for (int round = 0; round < 5000; ++round) {
    const std::string text = random_bytes(random);
    const Ids ids = tokenizer->encode(text);
    // U+2581 means a space, so it does not survive.
    if (text.find("\xE2\x96\x81") != std::string::npos) continue;
    ASSERT_EQ(tokenizer->decode(ids), sanitize(text)) << "seed 4, round " << round;
    ASSERT_EQ(stream(*tokenizer, ids), sanitize(text)) << "seed 4, round " << round;
  }
}

TEST(Tokenizer, streamed_text_equals_whole_text_for_any_ids) {
  std::mt19937 random(5);
  for (const auto& tokenizer : {make(byte_level_spec({"the", "\xE4\xBD", "\xA0 x"})), make(metaspace_spec())}) {
    for (int round = 0; round < 3000; ++round) {
      Ids ids;
      for (size_t i = random() % 12; i > 0; --i)
        ids.push_back(static_cast<int32_t>(random() % static_cast<uint32_t>(tokenizer->vocab_size() + 2)) - 1);
      ASSERT_EQ(stream(*tokenizer, ids), tokenizer->decode(ids)) << "seed 5, round " << round;
    }
  }
}

TEST(Tokenizer, the_best_ranked_pair_merges_first_and_the_leftmost_of_equals) {
  const auto tokenizer = make(byte_level_spec({"bc", "ab", "aa"}));
  EXPECT_THAT(tokenizer->encode("abc"), ElementsAre('a', 256));
  EXPECT_THAT(tokenizer->encode("aaa"), ElementsAre(258, 'a'));
}

TEST(Tokenizer, long_words_merge_as_short_ones_do) {
  // The same word on both sides of the length where a heap takes over from scanning.
  const auto tokenizer = make(byte_level_spec({"ab", "abab", "ba", "aba", "bb", "abababab"}));
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    std::string part;
    for (int i = 0; i < 30; ++i) part.push_back(random() % 3 ? 'a' : 'b');
    // 'c' merges with nothing: the parts of a long word must come out as they do alone.
    Ids expected = tokenizer->encode(part);
    const Ids alone = expected;
    expected.push_back('c');
    expected.insert(expected.end(), alone.begin(), alone.end());
    ASSERT_EQ(tokenizer->encode(part + "c" + part), expected) << "seed 6, round " << round;
  }
}

TEST(Tokenizer, a_megabyte_of_one_letter_takes_no_quadratic_time) {
  const auto tokenizer = make(byte_level_spec({"aa", "aaaa", "aaaaaaaa"}));
  const std::clock_t start = std::clock();  // of the processor: other programs may be busy
  EXPECT_EQ(tokenizer->encode(std::string(1 << 20, 'a')).size(), size_t{1} << 17);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 30.0);  // quadratic time would be hours
}

TEST(Tokenizer, special_tokens_are_found_only_when_asked_for) {
  TokenizerSpec spec = byte_level_spec({});
  const int32_t end = add_special(spec, "<|end|>");
  const int32_t own = add_special(spec, "<ship>", false);
  const auto tokenizer = make(std::move(spec));
  EXPECT_THAT(tokenizer->encode("a<|end|>b", {.parse_special = true}), ElementsAre('a', end, 'b'));
  EXPECT_EQ(tokenizer->encode("a<|end|>b", {.parse_special = false}).size(), 9u);
  EXPECT_THAT(tokenizer->encode("a<ship>b", {.parse_special = false}), ElementsAre('a', own, 'b'));
  EXPECT_TRUE(tokenizer->is_special(end));
  EXPECT_FALSE(tokenizer->is_special(own));
  EXPECT_EQ(tokenizer->token_to_id("<|end|>"), end);
}

TEST(Tokenizer, of_two_special_tokens_at_a_place_the_longer_wins) {
  TokenizerSpec spec = byte_level_spec({});
  add_special(spec, "<a>");
  const int32_t longer = add_special(spec, "<a><b>");
  const auto tokenizer = make(std::move(spec));
  EXPECT_THAT(tokenizer->encode("<a><b>", {.parse_special = true}), ElementsAre(longer));
}

TEST(Tokenizer, added_tokens_take_white_space_or_stand_alone_as_their_flags_say) {
  TokenizerSpec spec = byte_level_spec({});
  const int32_t mask = add_special(spec, "<m>");
  spec.added.back().left_strip = spec.added.back().right_strip = true;
  const int32_t word = add_special(spec, "sea", false);
  spec.added.back().single_word = true;
  const auto tokenizer = make(std::move(spec));
  EXPECT_THAT(tokenizer->encode("a \t<m>\n\nb", {.parse_special = true}), ElementsAre('a', mask, 'b'));
  EXPECT_THAT(tokenizer->encode("sea"), ElementsAre(word));
  EXPECT_THAT(tokenizer->encode("seas"), ElementsAre('s', 'e', 'a', 's'));
}

TEST(Tokenizer, the_ids_around_a_text_come_only_when_asked_for) {
  TokenizerSpec spec = byte_level_spec({});
  const int32_t bos = add_special(spec, "<s>");
  const int32_t eos = add_special(spec, "</s>");
  spec.prefix_ids = {bos};
  spec.suffix_ids = {eos};
  const auto tokenizer = make(std::move(spec));
  EXPECT_THAT(tokenizer->encode("a", {.add_special = true}), ElementsAre(bos, 'a', eos));
  EXPECT_THAT(tokenizer->encode("", {.add_special = true}), ElementsAre(bos, eos));
  EXPECT_THAT(tokenizer->encode("a", {.add_special = false}), ElementsAre('a'));
  const Ids ids = {bos, 'a', eos};
  EXPECT_EQ(tokenizer->decode(ids, {.skip_special = true}), "a");
  EXPECT_EQ(tokenizer->decode(ids, {.skip_special = false}), "<s>a</s>");
}

TEST(Tokenizer, ids_out_of_range_give_nothing) {
  const auto tokenizer = make(byte_level_spec({}));
  const Ids ids = {-1, 'a', 256, INT32_MAX, INT32_MIN};
  EXPECT_EQ(tokenizer->decode(ids), "a");
  EXPECT_EQ(tokenizer->piece(-1), "");
  EXPECT_EQ(tokenizer->piece(1000), "");
  EXPECT_FALSE(tokenizer->is_special(-1));
  EXPECT_FALSE(tokenizer->is_end_of_generation(99999));
}

TEST(Tokenizer, many_threads_may_share_one) {
  const auto tokenizer = make(byte_level_spec({"th", "the", " the"}));
  const std::string text = "the ship, the sea and the keeper of the light";
  const Ids expected = tokenizer->encode(text);
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (int& count : good) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) count += tokenizer->encode(text) == expected;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(good, ::testing::Each(200));
}

TEST(IncrementalDetokenizer, waits_for_the_rest_of_a_character) {
  const auto tokenizer = make(byte_level_spec({}));
  std::vector<std::string> parts;
  stream(*tokenizer, {0xF0, 0x9F, 0xA6, 0x99, 'x'}, &parts);
  EXPECT_THAT(parts, ElementsAre("", "", "", "\xF0\x9F\xA6\x99", "x", ""));
}

TEST(IncrementalDetokenizer, gives_up_a_character_as_soon_as_it_cannot_be_completed) {
  const auto tokenizer = make(byte_level_spec({}));
  std::vector<std::string> parts;
  stream(*tokenizer, {0xF0, 0x9F, 'x', 0xE4}, &parts);
  EXPECT_THAT(parts, ElementsAre("", "",
                                 "\xEF\xBF\xBD"
                                 "x",
                                 "", "\xEF\xBF\xBD"));
}

TEST(IncrementalDetokenizer, the_space_that_starts_a_text_goes_and_later_ones_stay) {
  const auto tokenizer = make(metaspace_spec());
  const Ids ids = tokenizer->encode("a a");
  std::vector<std::string> parts;
  stream(*tokenizer, ids, &parts);
  EXPECT_THAT(parts, ElementsAre("a", " a", ""));
  IncrementalDetokenizer continued(*tokenizer);
  continued.continue_text();
  EXPECT_EQ(continued.push(ids[0]), " a");
}

TEST(IncrementalDetokenizer, a_continuation_keeps_its_space_whatever_strips_it_at_the_start) {
  TokenizerSpec spec = metaspace_spec();
  DecoderStep replace{.kind = DecoderKind::kReplace}, strip{.kind = DecoderKind::kStrip};
  replace.pattern = "\xE2\x96\x81";
  replace.content.assign(1, ' ');
  strip.content.assign(1, ' ');
  strip.start = 1;
  spec.decoder = {replace, {.kind = DecoderKind::kByteFallback}, {.kind = DecoderKind::kFuse}, strip};
  const auto tokenizer = make(std::move(spec));
  const Ids ids = tokenizer->encode("a a");
  EXPECT_EQ(stream(*tokenizer, ids), "a a");
  IncrementalDetokenizer continued(*tokenizer);
  continued.continue_text();
  EXPECT_EQ(continued.push(ids[0]), " a");
}

TEST(SentencePieceFolder, tokens_that_only_the_config_knows_are_added) {
  const auto bytes =
      testing::read_whole(std::string(NEREID_SOURCE_DIR) + "/tests/corpus/sentencepiece_model_fuzz/bpe_byte_fallback");
  ASSERT_TRUE(bytes.has_value());
  Result<TokenizerSpec> spec = spec_from_sentencepiece(*bytes);
  ASSERT_TRUE(spec.is_ok()) << spec.status().message();
  const int32_t before = static_cast<int32_t>(spec->tokens.size());
  HuggingFaceFiles files;
  files.tokenizer_config = fmt::format(
      R"({{"added_tokens_decoder":{{"{}":{{"content":"<|im_end|>","special":true}},"{}":{{"content":"<tool>"}}}},)"
      R"("eos_token":"<|im_end|>","add_bos_token":false,"legacy":false}})",
      before, before + 2);
  const Status applied = apply_huggingface_config(files, *spec);
  ASSERT_TRUE(applied.is_ok()) << applied.message();
  const auto tokenizer = make(std::move(spec).value());
  EXPECT_EQ(tokenizer->vocab_size(), before + 3);
  EXPECT_EQ(tokenizer->eos_id(), before);
  EXPECT_TRUE(tokenizer->is_end_of_generation(before));
  EXPECT_TRUE(tokenizer->spec().prefix_ids.empty());
  EXPECT_THAT(tokenizer->encode("<|im_end|><tool>", {.parse_special = true}), ElementsAre(before, before + 2));
  EXPECT_EQ(tokenizer->decode(Ids{before + 2}), "<tool>");
}

TEST(EndTokens, well_known_texts_end_a_generation_besides_the_named_one) {
  Metadata m;
  const std::vector<std::string_view> tokens = {"a", "<|im_start|>", "<|im_end|>", "<|endoftext|>", "</s>"};
  ASSERT_TRUE(m.add("tokenizer.ggml.model", std::string_view("gpt2")).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.pre", std::string_view("smollm")).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.tokens", tokens).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.token_type", std::vector<int64_t>{1, 3, 4, 3, 1}).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.merges", std::vector<std::string_view>{"a a"}).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.eos_token_id", int64_t{3}).is_ok());
  Result<TokenizerSpec> spec = spec_from_gguf(m);
  ASSERT_TRUE(spec.is_ok()) << spec.status().message();
  const auto tokenizer = make(std::move(spec).value());
  EXPECT_TRUE(tokenizer->is_end_of_generation(2));
  EXPECT_TRUE(tokenizer->is_end_of_generation(3));
  EXPECT_FALSE(tokenizer->is_end_of_generation(1));
  EXPECT_FALSE(tokenizer->is_end_of_generation(4)) << "an ordinary </s> ends nothing";
  EXPECT_EQ(tokenizer->eos_id(), 3);
  EXPECT_TRUE(tokenizer->is_special(2)) << "though the file says it is an ordinary added token";
}

}  // namespace
}  // namespace nereid::token
