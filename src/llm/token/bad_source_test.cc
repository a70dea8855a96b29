// SPDX-License-Identifier: Apache-2.0
// Damaged and hostile tokenizer files: each is refused with a sentence that says what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "llm/token/source_gguf.h"
#include "llm/token/source_huggingface.h"
#include "llm/token/source_sentencepiece.h"
#include "llm/token/source_tiktoken.h"
#include "llm/token/test_files.h"
#include "llm/token/tokenizer.h"

namespace nereid::token {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string refusal(const Result<TokenizerSpec>& spec) {
  return spec.is_ok() ? "(accepted)" : spec.status().message();
}

std::string refusal_of_json(const std::string& text) {
  return refusal(spec_from_huggingface({.tokenizer_json = text}));
}

Json sound_json() {
  return {{"added_tokens", Json::array()},
          {"model", {{"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}}}};
}

TEST(BadTokenizerJson, the_sound_one_is_accepted) {
  EXPECT_EQ(refusal_of_json(sound_json().dump()), "(accepted)");
}

TEST(BadTokenizerJson, what_is_no_json_is_refused) {
  EXPECT_THAT(refusal_of_json(""), HasSubstr("no JSON"));
  EXPECT_THAT(refusal_of_json("{\"model\":"), HasSubstr("no JSON"));
  EXPECT_THAT(refusal_of_json(std::string(100000, '[')), HasSubstr("no JSON"));
}

TEST(BadTokenizerJson, a_file_without_a_model_or_vocabulary_is_refused) {
  EXPECT_THAT(refusal_of_json("{}"), HasSubstr("no model"));
  EXPECT_THAT(refusal_of_json("[1]"), HasSubstr("no model"));
  EXPECT_THAT(refusal_of_json(R"({"model":{"type":"BPE"}})"), HasSubstr("no vocabulary"));
  EXPECT_THAT(refusal_of_json(R"({"model":{"type":"BPE","vocab":{}}})"), HasSubstr("no tokens"));
}

TEST(BadTokenizerJson, ids_out_of_all_proportion_are_refused_before_memory_is_spent) {
  Json json = sound_json();
  json["model"]["vocab"]["b"] = 2000000000;
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("has only 3 tokens"));
  json = sound_json();
  json["model"]["vocab"]["b"] = -5;
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("the id -5"));
  json = sound_json();
  json["model"]["vocab"]["b"] = "x";
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("is no number"));
  json = sound_json();
  json["added_tokens"] = {{{"id", 1ll << 40}, {"content", "<s>"}}};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("out of all proportion"));
}

TEST(BadTokenizerJson, a_merge_of_unknown_tokens_is_refused) {
  Json json = sound_json();
  json["model"]["merges"] = {"a c"};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("not in its vocabulary"));
  json["model"]["merges"] = {5};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("no pair of texts"));
}

TEST(BadTokenizerJson, unknown_kinds_are_named) {
  Json json = sound_json();
  json["normalizer"] = {{"type", "Magic"}};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("normalizer of the kind 'Magic'"));
  json = sound_json();
  json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {{{"type", "Magic"}}}}};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("pre-tokenizer of the kind 'Magic'"));
  json = sound_json();
  json["decoder"] = {{"type", "Magic"}};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("decoder of the kind 'Magic'"));
  json = sound_json();
  json["post_processor"] = {{"type", "Magic"}};
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("post-processor of the kind 'Magic'"));
  json = sound_json();
  json["model"]["type"] = "Magic";
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("of the kind 'Magic'"));
}

TEST(BadTokenizerJson, sequences_within_sequences_have_a_bound) {
  Json step = {{"type", "NFC"}};
  for (int i = 0; i < 1000; ++i) step = {{"type", "Sequence"}, {"normalizers", {step}}};
  Json json = sound_json();
  json["normalizer"] = step;
  EXPECT_THAT(refusal_of_json(json.dump()), HasSubstr("more than 16 deep"));
}

TEST(BadTokenizerJson, a_pattern_that_is_none_is_refused_with_its_place) {
  Json json = sound_json();
  json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}};
  Result<TokenizerSpec> spec = spec_from_huggingface({.tokenizer_json = json.dump()});
  ASSERT_TRUE(spec.is_ok());
  const auto made = make_tokenizer(std::move(spec).value());
  ASSERT_FALSE(made.is_ok());
  EXPECT_THAT(made.status().message(), HasSubstr("at byte 2"));
}

TEST(BadTokenizerJson, a_pattern_that_explodes_is_stopped) {
  Json json = sound_json();
  json["pre_tokenizer"] = {{"type", "Split"}, {"pattern", {{"Regex", "(a|aa|aaa)+$"}}}, {"behavior", "Isolated"}};
  Result<TokenizerSpec> spec = spec_from_huggingface({.tokenizer_json = json.dump()});
  ASSERT_TRUE(spec.is_ok());
  const auto made = make_tokenizer(std::move(spec).value());
  ASSERT_TRUE(made.is_ok());
  const std::string text(200, 'a');
  const auto ids = (*made)->encode_checked(text + "b");
  ASSERT_FALSE(ids.is_ok());
  EXPECT_EQ(ids.status().code(), StatusCode::kExhausted);
  EXPECT_FALSE((*made)->encode(text + "b").empty());
}

TEST(BadSentencePieceModel, damaged_bytes_are_refused) {
  EXPECT_THAT(refusal(spec_from_sentencepiece("")), HasSubstr("no pieces"));
  EXPECT_THAT(refusal(spec_from_sentencepiece("GGUF\x03")), HasSubstr("damaged"));
  EXPECT_THAT(refusal(spec_from_sentencepiece(std::string_view("\x0A\xFF\xFF\xFF\xFF\x0F", 6))), HasSubstr("damaged"));
  EXPECT_THAT(refusal(spec_from_sentencepiece(std::string_view("\x0A\x02\x0A\x05", 4))), HasSubstr("list of pieces"));
  EXPECT_THAT(refusal(spec_from_sentencepiece(std::string_view("\x0A\x05\x0A\x01"
                                                               "a\x18\x09",
                                                               7))),
              HasSubstr("type 9"));
}

TEST(BadSentencePieceModel, word_models_are_refused_by_name) {
  EXPECT_THAT(refusal(spec_from_sentencepiece(std::string_view("\x0A\x03\x0A\x01"
                                                               "a\x12\x02\x18\x03",
                                                               9))),
              HasSubstr("of type 3"));
}

TEST(BadTiktokenFile, each_wrong_line_is_named) {
  EXPECT_THAT(refusal(spec_from_tiktoken("")), HasSubstr("no tokens"));
  EXPECT_THAT(refusal(spec_from_tiktoken("YQ== 0\nnonsense\n")), HasSubstr("line 2"));
  EXPECT_THAT(refusal(spec_from_tiktoken("YQ== x\n")), HasSubstr("line 1"));
  EXPECT_THAT(refusal(spec_from_tiktoken("Y?== 0\n")), HasSubstr("line 1"));
  EXPECT_THAT(refusal(spec_from_tiktoken("YQ== 0\nYg== 0\n")), HasSubstr("two tokens of rank 0"));
  EXPECT_THAT(refusal(spec_from_tiktoken("YQ== 0\nYg== 2000000000\n")), HasSubstr("ranks up to"));
}

TEST(BadGgufVocabulary, keys_that_do_not_fit_together_are_refused) {
  const std::vector<std::string_view> tokens = {"a", "b"};
  EXPECT_THAT(refusal(spec_from_gguf(Metadata())), HasSubstr("no vocabulary"));
  Metadata kind;
  ASSERT_TRUE(kind.add("tokenizer.ggml.tokens", tokens).is_ok());
  ASSERT_TRUE(kind.add("tokenizer.ggml.model", std::string_view("rwkv")).is_ok());
  EXPECT_THAT(refusal(spec_from_gguf(kind)), HasSubstr("kind 'rwkv'"));
  Metadata scores;
  ASSERT_TRUE(scores.add("tokenizer.ggml.tokens", tokens).is_ok());
  ASSERT_TRUE(scores.add("tokenizer.ggml.model", std::string_view("llama")).is_ok());
  EXPECT_THAT(refusal(spec_from_gguf(scores)), HasSubstr("scores is missing"));
  ASSERT_TRUE(scores.add("tokenizer.ggml.scores", std::vector<double>{1.0}).is_ok());
  EXPECT_THAT(refusal(spec_from_gguf(scores)), HasSubstr("1 entries for 2 tokens"));
  Metadata merges;
  ASSERT_TRUE(merges.add("tokenizer.ggml.tokens", tokens).is_ok());
  ASSERT_TRUE(merges.add("tokenizer.ggml.model", std::string_view("gpt2")).is_ok());
  EXPECT_THAT(refusal(spec_from_gguf(merges)), HasSubstr("merges is missing"));
}

TEST(BadGgufVocabulary, an_unknown_pre_tokenizer_gets_the_default_and_a_warning) {
  Metadata m;
  ASSERT_TRUE(m.add("tokenizer.ggml.tokens", std::vector<std::string_view>{"a", "b"}).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.model", std::string_view("gpt2")).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.pre", std::string_view("brand-new")).is_ok());
  ASSERT_TRUE(m.add("tokenizer.ggml.merges", std::vector<std::string_view>{}).is_ok());
  std::string warning;
  EXPECT_EQ(refusal(spec_from_gguf(m, &warning)), "(accepted)");
  EXPECT_THAT(warning, HasSubstr("'brand-new' is not known"));
}

TEST(BadStoredTokenizer, any_cut_or_flipped_byte_is_an_error_or_a_working_tokenizer) {
  Result<TokenizerSpec> spec = spec_from_huggingface({.tokenizer_json = sound_json().dump()});
  ASSERT_TRUE(spec.is_ok());
  Metadata stored;
  ASSERT_TRUE(spec->to_metadata(stored).is_ok());
  const std::string bytes = stored.serialize();
  std::mt19937 random(8);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = bytes;
    if (round % 2) {
      damaged.resize(random() % bytes.size());
    } else {
      damaged[random() % bytes.size()] = static_cast<char>(random());
    }
    const Result<Metadata> metadata = Metadata::parse(damaged);
    if (!metadata.is_ok()) continue;
    Result<TokenizerSpec> read = TokenizerSpec::from_metadata(*metadata);
    if (!read.is_ok()) continue;
    const auto made = make_tokenizer(std::move(read).value());
    if (made.is_ok()) static_cast<void>((*made)->decode((*made)->encode("abba")));
  }
}

}  // namespace
}  // namespace nereid::token
