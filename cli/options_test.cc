// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/command.h"

namespace nereid::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The settings after a command line; nothing where it does not parse.
std::optional<sample::SamplingParams> parsed(std::vector<const char*> args) {
  CommandLine app("", "test");
  const SamplingOptions options(app);
  if (parse(app, args)) return std::nullopt;
  const Result<sample::SamplingParams> params = options.params();
  if (!params.is_ok()) return std::nullopt;
  return *params;
}

TEST(Options, every_setting_of_the_table_is_an_option) {
  for (const sample::Setting& setting : sample::setting_table()) {
    if (setting.name == "ignore_eos") continue;  // a flag
    std::string name = fmt::format("--{}", setting.name);
    for (char& c : name) c = c == '_' ? '-' : c;
    const auto params = parsed({name.c_str(), "1"});
    ASSERT_TRUE(params) << name;
    EXPECT_EQ(sample::get(*params, setting), 1) << name;
  }
  EXPECT_EQ(parsed({"--ignore-eos"})->ignore_eos, 1);
}

TEST(Options, an_answer_has_128_tokens_unless_told) {
  EXPECT_EQ(parsed({})->max_tokens, 128);
  EXPECT_EQ(parsed({"-n", "7"})->max_tokens, 7);
}

TEST(Options, a_seed_keeps_all_its_64_bits) {
  EXPECT_EQ(parsed({"--seed", "18446744073709551615"})->seed, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(parsed({"--seed", "9007199254740993"})->seed, 9007199254740993U);
  EXPECT_FALSE(parsed({"--seed", "-1"}));
  EXPECT_FALSE(parsed({"--seed", "18446744073709551616000"}));
}

TEST(Options, texts_are_taken_as_they_are) {
  EXPECT_THAT(parsed({"--stop", "[a,b]", "--stop", "{}", "--stop", "--stop"})->stop,
              ElementsAre("[a,b]", "{}", "--stop"));
}

TEST(Options, biases_name_a_token_and_a_number) {
  const auto biases = parsed({"--logit-bias", "5=-1.5", "--logit-bias", "6=-inf"})->logit_bias;
  EXPECT_THAT(biases, ElementsAre(Pair(5, -1.5F), Pair(6, -std::numeric_limits<float>::infinity())));
  for (const char* bad : {"5", "x=1", "5=", "5=one", "5=inf", "-1=2", "5=nan"})
    EXPECT_FALSE(parsed({"--logit-bias", bad})) << bad;
}

TEST(Options, values_out_of_bounds_or_no_numbers_are_refused) {
  EXPECT_FALSE(parsed({"--top-p", "1.5"}));
  EXPECT_FALSE(parsed({"--top-k", "2.5"}));
  EXPECT_FALSE(parsed({"--temperature", "warm"}));
  EXPECT_FALSE(parsed({"--temperature", "nan"}));
  EXPECT_FALSE(parsed({"--min-tokens", "10", "-n", "5"}));
}

}  // namespace
}  // namespace nereid::cli
