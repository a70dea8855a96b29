// SPDX-License-Identifier: Apache-2.0
// Encoders through the C interface: the numbers are sentence-transformers', and misuse is a sentence.
#include "nereid/encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "llm/run/test_encoder.h"

namespace nereid::api::testing {
namespace {

using llm::testing::encoder_expected;
using llm::testing::encoder_path;
using ::testing::HasSubstr;

class ApiEncoder : public ::testing::Test {
 protected:
  ApiEncoder() { ::setenv("NEREID_CACHE_DIR", cache_.path().c_str(), 1); }
  static nereid_encoder* open(const std::string& name) {
    nereid_encoder_options options = NEREID_ENCODER_OPTIONS_INIT;
    options.threads = 1;
    nereid_encoder* encoder = nullptr;
    EXPECT_EQ(nereid_encoder_open(encoder_path(name).c_str(), &options, &encoder), NEREID_OK) << nereid_last_error();
    return encoder;
  }
  static void expect_near(const Json& expected, const float* numbers) {
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(numbers[i], expected[i].get<float>(), 2e-5) << i;
  }
  TestDir cache_;
};

TEST_F(ApiEncoder, gives_the_vectors_of_sentence_transformers_to_many_threads) {
  const Json expected = encoder_expected("bert-mean");
  nereid_encoder* encoder = open("bert-mean");
  nereid_encoder_info info{};
  info.struct_size = sizeof(info);
  ASSERT_EQ(nereid_encoder_describe(encoder, &info), NEREID_OK);
  EXPECT_EQ(info.labels, 0);
  EXPECT_EQ(info.max_tokens, 32);
  const auto width = static_cast<size_t>(info.width);
  ASSERT_EQ(width, expected["texts"][0]["vector"].size());
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      std::vector<nereid_encoder_text> texts;
      std::vector<std::string> kept;
      for (const Json& text : expected["texts"]) kept.push_back(text["text"].get<std::string>());
      for (const std::string& text : kept) {
        nereid_encoder_text one = NEREID_ENCODER_TEXT_INIT;
        one.text = text.c_str();
        one.truncates = 1;
        texts.push_back(one);
      }
      std::vector<float> numbers(texts.size() * width);
      std::vector<int64_t> counts(texts.size());
      ASSERT_EQ(
          nereid_encoder_encode(encoder, texts.data(), texts.size(), numbers.data(), numbers.size(), counts.data()),
          NEREID_OK);
      for (size_t i = 0; i < texts.size(); ++i) {
        expect_near(expected["texts"][i]["vector"], &numbers[i * width]);
        EXPECT_EQ(counts[i], static_cast<int64_t>(expected["texts"][i]["tokens"].size()));
      }
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(nereid_encoder_close(&encoder), NEREID_OK);
  EXPECT_EQ(encoder, nullptr);
}

TEST_F(ApiEncoder, takes_tokens_instead_of_a_text) {
  const Json expected = encoder_expected("bert-mean")["texts"][0];
  const auto tokens = expected["tokens"].get<std::vector<int32_t>>();
  nereid_encoder* encoder = open("bert-mean");
  nereid_encoder_text text = NEREID_ENCODER_TEXT_INIT;
  text.tokens = tokens.data();
  text.token_count = tokens.size();
  std::vector<float> numbers(expected["vector"].size());
  EXPECT_EQ(nereid_encoder_encode(encoder, &text, 1, numbers.data(), numbers.size(), nullptr), NEREID_OK);
  expect_near(expected["vector"], numbers.data());
  EXPECT_EQ(nereid_encoder_close(&encoder), NEREID_OK);
}

TEST_F(ApiEncoder, misuse_is_a_sentence) {
  nereid_encoder* encoder = open("bert-mean");
  nereid_encoder_text text = NEREID_ENCODER_TEXT_INIT;
  float numbers[64];
  EXPECT_EQ(nereid_encoder_encode(encoder, &text, 1, numbers, 64, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(nereid_last_error(), HasSubstr("neither a text nor tokens"));
  text.text = "the inn";
  EXPECT_EQ(nereid_encoder_encode(encoder, &text, 1, numbers, 3, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(nereid_last_error(), HasSubstr("there is room for 3"));
  EXPECT_EQ(nereid_encoder_encode(encoder, &text, 0, numbers, 64, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(nereid_last_error(), HasSubstr("there are no texts"));
  std::string words;
  for (int i = 0; i < 64; ++i) words += "the inn ";
  text.text = words.c_str();
  EXPECT_EQ(nereid_encoder_encode(encoder, &text, 1, numbers, 64, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_THAT(nereid_last_error(), HasSubstr("32"));
  EXPECT_EQ(nereid_encoder_close(&encoder), NEREID_OK);
  EXPECT_EQ(nereid_encoder_describe(nullptr, nullptr), NEREID_INVALID_ARGUMENT);
  EXPECT_EQ(nereid_encoder_open("/nowhere", nullptr, &encoder), NEREID_NOT_FOUND);
}

}  // namespace
}  // namespace nereid::api::testing
