// SPDX-License-Identifier: Apache-2.0
// The chain, fixed draws and Mirostat against numpy (tests/data/sample/make_goldens.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

using Json = nlohmann::json;

const Json& goldens() {
  static const Json parsed = [] {
    std::ifstream in(NEREID_SOURCE_DIR "/tests/data/sample/goldens.json");
    return Json::parse(in);
  }();
  return parsed;
}

SamplingParams params_of(const Json& settings) {
  SamplingParams params;
  params.temperature = 1.0F;
  for (const auto& [name, value] : settings.items()) {
    if (name == "logit_bias") {
      for (const auto& [token, bias] : value.items()) params.logit_bias[std::stoi(token)] = bias.get<float>();
    } else if (name == "bad_words") {
      params.bad_words = value.get<std::vector<std::string>>();
    } else if (name == "dry_sequence_breakers") {
      params.dry_sequence_breakers = value.get<std::vector<std::string>>();
    } else if (name == "bad_token_ids") {
      params.bad_token_ids = value.get<std::vector<std::vector<int32_t>>>();
    } else if (name == "allowed_token_ids") {
      params.allowed_token_ids = value.get<std::vector<int32_t>>();
    } else {
      EXPECT_TRUE(set(&params, name, value.get<double>()).is_ok()) << name;
    }
  }
  return params;
}

TEST(SamplingGoldens, the_chain_leaves_the_tokens_and_probabilities_that_numpy_finds) {
  const Json& rows = goldens().at("chain");
  ASSERT_EQ(rows.size(), 82u);
  std::vector<TokenProbability> found;
  for (const Json& row : rows) {
    auto logits = row["logits"].get<std::vector<float>>();
    SCOPED_TRACE(row["settings"].dump() + " vocabulary " + std::to_string(logits.size()));
    const auto history = row["history"].get<std::vector<int32_t>>();
    auto pieces = row.contains("pieces") ? row["pieces"].get<std::vector<std::string>>()
                                         : std::vector<std::string>(logits.size());
    const Vocabulary vocabulary = make_vocabulary(pieces, {});
    Sampler sampler = make_sampler(params_of(row["settings"]), vocabulary);
    sampler.set_step(row["step"].get<uint64_t>());
    ASSERT_TRUE(sampler.distribution(logits, history, {}, &found).is_ok());
    std::map<int32_t, double> left;
    for (const Json& pair : row["left"]) left[pair[0].get<int32_t>()] = pair[1].get<double>();
    ASSERT_EQ(found.size(), left.size());
    for (const TokenProbability& x : found) {
      ASSERT_EQ(left.count(x.token), 1u) << x.token;
      EXPECT_NEAR(x.probability, left[x.token], 2e-6) << x.token;
    }
  }
}

TEST(SamplingGoldens, draws_are_those_of_an_independent_program) {
  for (const Json& row : goldens().at("draws")) {
    SamplingParams params;
    params.temperature = row["temperature"].get<float>();
    params.top_k = row["top_k"].get<int32_t>();
    params.seed = row["seed"].get<uint64_t>();
    Sampler sampler = make_sampler(params);
    std::vector<float> logits(row["vocabulary"].get<size_t>());
    for (size_t i = 0; i < logits.size(); ++i) logits[i] = static_cast<float>((i * 2654435761u) % 4096) / 512.0F;
    for (const Json& token : row["tokens"]) EXPECT_EQ(draw(sampler, logits).token, token.get<int32_t>());
  }
}

TEST(SamplingGoldens, mirostat_draws_and_moves_as_the_paper_says) {
  const Json& rows = goldens().at("mirostat");
  ASSERT_EQ(rows.size(), 5u);
  for (const Json& row : rows) {
    SamplingParams params;
    for (const char* name : {"mirostat", "mirostat_tau", "mirostat_eta", "temperature", "seed"})
      ASSERT_TRUE(set(&params, name, row[name].get<double>()).is_ok());
    SCOPED_TRACE("version " + std::to_string(params.mirostat) + " tau " + std::to_string(params.mirostat_tau));
    Sampler sampler = make_sampler(params);
    for (size_t step = 0; step < row["tokens"].size(); ++step) {
      EXPECT_EQ(draw(sampler, row["logits"][step].get<std::vector<float>>()).token, row["tokens"][step].get<int32_t>());
      EXPECT_NEAR(sampler.state().mirostat_mu, row["mu"][step].get<float>(), 1e-3);
    }
  }
}

}  // namespace
}  // namespace nereid::sample
