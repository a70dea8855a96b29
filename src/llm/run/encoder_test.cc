// SPDX-License-Identifier: Apache-2.0
// Tiny models that encode against what sentence-transformers says of the same files.
#include "llm/run/encoder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "llm/run/test_encoder.h"

namespace nereid::llm {
namespace {

using testing::all_encoders;
using testing::encoder_expected;
using ::testing::HasSubstr;
using testing::TestEncoder;

EncodeInput input_of(const Json& text) {
  EncodeInput input{.text = text.contains("query") ? text["query"] : text["text"], .truncates = true};
  if (text.contains("query")) input.second = text["text"].get<std::string>();
  return input;
}

std::vector<float> wanted(const Json& text) {
  return text.contains("score") ? std::vector<float>{text["score"].get<float>()}
                                : text["vector"].get<std::vector<float>>();
}

std::vector<std::vector<float>> run(Encoder& encoder, const std::vector<EncodeTokens>& texts) {
  std::vector<const EncodeTokens*> pointers;
  for (const EncodeTokens& text : texts) pointers.push_back(&text);
  auto results = encoder.run(pointers);
  EXPECT_TRUE(results.is_ok()) << results.status().message();
  return results.is_ok() ? std::move(results).value() : std::vector<std::vector<float>>(texts.size());
}

class Encoders : public ::testing::TestWithParam<std::string> {};

TEST_P(Encoders, tokens_and_results_are_those_of_sentence_transformers) {
  TestEncoder tiny(GetParam());
  Encoder& encoder = *tiny.encoder;
  EXPECT_THAT(encoder.context().notes(), ::testing::IsEmpty());
  const Json expected = encoder_expected(GetParam());
  EXPECT_EQ(encoder.max_tokens(), expected["max_tokens"]);
  std::vector<EncodeTokens> texts;
  for (const Json& text : expected["texts"]) {
    const auto tokens = encoder.prepare(input_of(text));
    ASSERT_TRUE(tokens.is_ok()) << tokens.status().message();
    EXPECT_EQ(tokens->ids, text["tokens"].get<std::vector<int32_t>>()) << text["text"];
    texts.push_back(*tokens);
  }
  const auto results = run(encoder, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float> want = wanted(expected["texts"][i]);
    ASSERT_EQ(results[i].size(), want.size());
    // Both add in f32, in different orders; models in bf16 are rounded by neither.
    for (size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(results[i][k], want[k], 2e-5) << "text " << i << " at " << k;
  }
}

TEST_P(Encoders, company_threads_and_instruction_sets_change_no_more_than_they_may) {
  const Json expected = encoder_expected(GetParam());
  for (const Isa isa : testing::isas_here()) {
    TestEncoder one(GetParam(), {}, 1, isa), three(GetParam(), {}, 3, isa);
    std::vector<EncodeTokens> texts;
    for (const Json& text : expected["texts"]) texts.push_back(one.encoder->prepare(input_of(text)).value());
    std::vector<std::vector<float>> alone;
    for (const EncodeTokens& text : texts) alone.push_back(run(*one.encoder, {text})[0]);
    std::vector<EncodeTokens> backwards(texts.rbegin(), texts.rend());
    std::vector<std::vector<float>> together = run(*three.encoder, backwards);
    std::reverse(together.begin(), together.end());
    EXPECT_EQ(alone, together) << isa_name(isa);
    for (size_t i = 0; i < texts.size(); ++i)
      for (size_t k = 0; k < alone[i].size(); ++k)
        EXPECT_NEAR(alone[i][k], wanted(expected["texts"][i])[k], 2e-5) << isa_name(isa);
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, Encoders, ::testing::ValuesIn(all_encoders()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Encoder, a_text_that_is_too_long_is_an_error_unless_its_end_may_go) {
  TestEncoder tiny("bert-mean");
  EncodeInput input{.text = std::string(100, 'a') + " the inn the inn the inn"};
  for (int i = 0; i < 40; ++i) input.text += " the inn";
  EXPECT_THAT(tiny.encoder->prepare(input).status().message(),
              HasSubstr("tokens, but the model reads at most 32; shorten it"));
  input.truncates = true;
  const EncodeTokens cut = tiny.encoder->prepare(input).value();
  EXPECT_EQ(cut.ids.size(), 32U);
  EXPECT_EQ(cut.ids.back(), 3);  // [SEP] stays
}

TEST(Encoder, tokens_are_read_as_they_are) {
  TestEncoder tiny("bert-mean");
  EXPECT_EQ(tiny.encoder->prepare({.tokens = {2, 5, 6, 3}})->ids, (std::vector<int32_t>{2, 5, 6, 3}));
  for (const int32_t wrong : {-1, 62, INT32_MAX})
    EXPECT_THAT(tiny.encoder->prepare({.tokens = {2, wrong}}).status().message(),
                HasSubstr("is outside the vocabulary of 62"));
}

TEST(Encoder, steps_out_of_bounds_are_refused) {
  TestEncoder tiny("bert-mean", {.step_tokens = 40, .step_texts = 2});
  const EncodeTokens text = tiny.encoder->prepare({.text = "the inn of the hero is in the house"}).value();
  const EncodeTokens none, large{.ids = std::vector<int32_t>(33, 5)}, foreign{.ids = {99}};
  const auto error = [&](std::vector<const EncodeTokens*> texts) {
    return tiny.encoder->run(texts).status().message();
  };
  EXPECT_EQ(error({&text, &text}), "");
  EXPECT_THAT(error({}), HasSubstr("a step takes 1 to 2 texts, found 0"));
  EXPECT_THAT(error({&text, &text, &text}), HasSubstr("found 3"));
  EXPECT_THAT(error({&none}), HasSubstr("a text has 1 to 32 tokens, found 0"));
  EXPECT_THAT(error({&large}), HasSubstr("found 33"));
  EXPECT_THAT(error({&foreign}), HasSubstr("token 99 is outside the vocabulary"));
}

TEST(Encoder, weights_that_are_no_numbers_are_found) {
  TestDir folder;
  std::filesystem::copy(testing::encoder_path("bert-mean"), folder.path() + "/m",
                        std::filesystem::copy_options::recursive);
  const std::string path = folder.path() + "/m/model.safetensors";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  uint64_t header = 0;
  file.read(reinterpret_cast<char*>(&header), 8);
  std::string text(header, ' ');
  file.read(text.data(), static_cast<std::streamsize>(header));
  const Json json = parse_json(text).value();
  const auto at = json["encoder.layer.0.intermediate.dense.weight"]["data_offsets"][0].get<uint64_t>();
  file.seekp(static_cast<std::streamoff>(8 + header + at));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  file.write(reinterpret_cast<const char*>(&nan), 4);
  file.close();
  TestEncoder damaged(testing::PathTag{}, folder.path() + "/m");
  const EncodeTokens one = damaged.encoder->prepare({.text = "the inn"}).value();
  const std::vector<const EncodeTokens*> texts = {&one};
  EXPECT_THAT(damaged.encoder->run(texts).status().message(), HasSubstr("gives numbers that are none"));
}

}  // namespace
}  // namespace nereid::llm
