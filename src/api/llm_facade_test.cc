// SPDX-License-Identifier: Apache-2.0
// The C++ facade of language models.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nereid/llm.hpp>
#include <nlohmann/json.hpp>

#include "base/test_dir.h"

namespace nereid::api::testing {
namespace {

// What transformers answers is beside it.
const std::string kModel = std::string(NEREID_SOURCE_DIR) + "/tests/data/models/tiny-qwen3";

TEST(ApiLlmFacade, hears_what_the_original_framework_answers) {
  const TestDir cache;
  ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
  const auto expected = nlohmann::json::parse(std::ifstream(kModel + ".expected.json"));
  nereid::LlmOptions options;
  options.threads = 1;
  auto model = nereid::LanguageModel::open(kModel + ".gguf", options).value_or_throw();
  nereid::LlmRequest request;
  request.prompt = expected["prompt"];
  request.settings = {{"max_tokens", 24}};
  request.choices = 2;
  std::vector<int32_t> tokens[2];
  const auto id = model
                      .enqueue(request,
                               [&](const nereid::LlmOutput& o) {
                                 if (o.token >= 0) tokens[o.choice].push_back(o.token);
                                 EXPECT_TRUE(o.status.ok());
                               })
                      .value_or_throw();
  EXPECT_TRUE(model.wait(id).ok());
  EXPECT_EQ(tokens[0], expected["greedy_tokens"].get<std::vector<int32_t>>());
  EXPECT_EQ(tokens[1], expected["greedy_tokens"].get<std::vector<int32_t>>());
  EXPECT_EQ(model.stats()->requests_done, 1);
  EXPECT_EQ(model.describe()->vocabulary, 264);
  EXPECT_EQ(model.detokenize(*model.tokenize("Hello", false)).value_or_throw(), "Hello");
  request.settings = {{"warmth", 1}};
  EXPECT_EQ(model.enqueue(request, {}).status().code(), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid::LanguageModel::open("/nowhere.gguf").status().code(), NEREID_NOT_FOUND);
}

}  // namespace
}  // namespace nereid::api::testing
