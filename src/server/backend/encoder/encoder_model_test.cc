// SPDX-License-Identifier: Apache-2.0
// The tiny models that encode, behind server/core's interface.
#include "server/backend/encoder/encoder_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <future>

#include "base/test_dir.h"

namespace nereid::server {
namespace {

using ::testing::HasSubstr;

std::string path_of(const std::string& name) {
  return std::string(NEREID_SOURCE_DIR) + "/tests/data/encoders/" + name;
}

std::unique_ptr<EncoderModel> open(const std::string& name) {
  static const TestDir kCache;
  ::setenv("NEREID_CACHE_DIR", kCache.path().c_str(), 1);
  auto model = EncoderModel::open(path_of(name), {.name = "", .open = {.threads = 1}, .queue = {}});
  EXPECT_TRUE(model.is_ok()) << model.status().message();
  return std::move(model).value();
}

EncodeAnswer ask(EncoderModel& model, EncodeRequest request) {
  std::promise<EncodeAnswer> promise;
  const auto id =
      model.encode(std::move(request), [&](EncodeAnswer&& answer) { promise.set_value(std::move(answer)); });
  if (!id.is_ok()) return {.status = id.status(), .results = {}};
  return promise.get_future().get();
}

TEST(EncoderModel, a_card_says_what_the_model_gives) {
  const auto vectors = open("bert-mean"), scores = open("bert-cross"), decoder = open("qwen3-last");
  EXPECT_EQ(vectors->card().name, "bert-mean");
  EXPECT_TRUE(vectors->card().embeds && !vectors->card().reranks && !vectors->card().generates);
  EXPECT_TRUE(!scores->card().embeds && scores->card().reranks && !scores->card().chats);
  EXPECT_TRUE(decoder->card().embeds && !decoder->card().generates);
  EXPECT_EQ(vectors->card().context_tokens, 32);
}

TEST(EncoderModel, what_is_one_is_told_from_its_files) {
  EXPECT_TRUE(EncoderModel::is_one(path_of("bert-mean")));
  EXPECT_TRUE(EncoderModel::is_one(path_of("qwen3-last")));
  EXPECT_FALSE(EncoderModel::is_one(std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-qwen3"));
  EXPECT_FALSE(EncoderModel::is_one(std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-llama.gguf"));
  EXPECT_FALSE(EncoderModel::is_one("/no/such/model"));
}

TEST(EncoderModel, texts_and_pairs_are_encoded) {
  const auto vectors = open("bert-mean"), scores = open("bert-cross");
  const EncodeAnswer two = ask(*vectors, {.texts = {{.text = "the inn"}, {.tokens = {2, 5, 6, 3}}}});
  ASSERT_TRUE(two.status.is_ok()) << two.status.message();
  EXPECT_EQ(two.results[0].values.size(), 32U);
  EXPECT_EQ(two.results[0].values, two.results[1].values);
  EXPECT_EQ(two.results[0].tokens, 4);
  const EncodeAnswer pair = ask(*scores, {.texts = {{.text = "where is the hero?", .second = "the inn"}}});
  ASSERT_TRUE(pair.status.is_ok()) << pair.status.message();
  EXPECT_NEAR(pair.results[0].values.at(0), 0.97887588, 1e-5);
}

TEST(EncoderModel, what_a_model_does_not_give_is_refused) {
  const auto vectors = open("bert-mean"), scores = open("bert-cross");
  EXPECT_THAT(ask(*vectors, {.texts = {{.text = "a", .second = "b"}}}).status.message(), HasSubstr("judges no two"));
  EXPECT_THAT(ask(*scores, {.texts = {{.text = "a"}}}).status.message(), HasSubstr("gives no vectors"));
  EXPECT_EQ(vectors->generate({}, {}).status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(vectors->chat_prompt({}).status().code(), StatusCode::kUnsupported);
  vectors->drain(0);
  EXPECT_EQ(ask(*vectors, {.texts = {{.text = "a"}}}).status.code(), StatusCode::kUnavailable);
}

TEST(EncoderModel, texts_become_tokens_and_back) {
  const auto model = open("bert-mean");
  EXPECT_EQ(model->tokenize("the inn", true, false), (std::vector<int32_t>{2, 5, 6, 3}));
  EXPECT_EQ(model->detokenize(std::vector<int32_t>{5, 6}).value(), "the inn");
  EXPECT_EQ(model->detokenize(std::vector<int32_t>{99}).status().code(), StatusCode::kInvalidArgument);
}

TEST(EncoderModel, a_model_that_generates_is_none) {
  const auto opened = EncoderModel::open(std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-llama.gguf", {});
  EXPECT_THAT(opened.status().message(), HasSubstr("generates text and encodes none"));
}

}  // namespace
}  // namespace nereid::server
