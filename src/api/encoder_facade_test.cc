// SPDX-License-Identifier: Apache-2.0
// The C++ facade of encoders.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <nereid/encoder.hpp>
#include <nlohmann/json.hpp>

#include "base/test_dir.h"

namespace nereid::api::testing {
namespace {

// What sentence-transformers says is beside it.
const std::string kModel = std::string(NEREID_SOURCE_DIR) + "/tests/data/encoders/bert-cross";

TEST(ApiEncoderFacade, judges_pairs_as_sentence_transformers_does) {
  const TestDir cache;
  ::setenv("NEREID_CACHE_DIR", cache.path().c_str(), 1);
  const auto expected = nlohmann::json::parse(std::ifstream(kModel + ".expected.json"));
  nereid::EncoderOptions options;
  options.threads = 1;
  auto encoder = nereid::Encoder::open(kModel, options).value_or_throw();
  EXPECT_EQ(encoder.describe()->labels, 1);
  std::vector<nereid::EncoderText> pairs;
  for (const auto& pair : expected["texts"]) {
    pairs.emplace_back(pair["query"].get<std::string>(), pair["text"].get<std::string>());
    pairs.back().truncates = true;
  }
  const auto scores = encoder.encode(pairs).value_or_throw();
  ASSERT_EQ(scores.size(), pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) EXPECT_NEAR(scores[i][0], expected["texts"][i]["score"].get<float>(), 2e-5);
  EXPECT_EQ(encoder.encode({}).status().code(), NEREID_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace nereid::api::testing
