// SPDX-License-Identifier: Apache-2.0
// What must never be drawn is not, and what cannot be held to yields or is an error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/sample/grammar.h"
#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Tokens 0..6; 6 ends the text.
Vocabulary small_vocabulary() {
  return make_vocabulary({"a", "b", "c", "ab", "bc", "abc", ""}, {6});
}

TEST(Vocabulary, finds_the_tokens_that_begin_with_a_text) {
  const Vocabulary v = small_vocabulary();
  EXPECT_THAT(v.beginning_with("a"), ElementsAre(0, 3, 5));
  EXPECT_THAT(v.beginning_with("ab"), ElementsAre(3, 5));
  EXPECT_THAT(v.beginning_with("x"), ElementsAre());
  EXPECT_EQ(v.piece(99), "");
  EXPECT_EQ(v.piece(-1), "");
  EXPECT_TRUE(v.is_end(6));
  EXPECT_FALSE(Vocabulary::make({"a"}, {1}).is_ok());
}

TEST(Bans, a_bad_word_never_appears_however_tokens_cut_it) {
  const Vocabulary v = small_vocabulary();
  SamplingParams params;
  params.temperature = 2.0F;
  params.ignore_eos = 1;
  params.bad_words = {"abc", "cc", "bab"};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    params.seed = seed;
    Sampler sampler = make_sampler(params, v);
    std::vector<int32_t> history = {0, 1};  // the prompt ends with "ab": only the answer counts
    std::string text;
    for (int i = 0; i < 40; ++i) {
      history.push_back(draw(sampler, random_logits(v.size(), seed * 1000 + static_cast<uint64_t>(i)), history).token);
      text += v.piece(history.back());
    }
    for (const std::string& word : params.bad_words) EXPECT_EQ(text.find(word), std::string::npos) << text;
  }
}

TEST(Bans, bad_sequences_are_counted_in_the_answer_only) {
  SamplingParams params;
  params.bad_token_ids = {{1, 2}};
  Sampler sampler = make_sampler(params);
  const std::vector<float> likes_two = {0, 1, 5};
  EXPECT_EQ(draw(sampler, likes_two, {1}).token, 2);  // 1 is the prompt's
  EXPECT_EQ(draw(sampler, {0, 5, 1}, {1, 2}).token, 1);
  EXPECT_EQ(draw(sampler, likes_two, {1, 2, 1}).token, 1);
}

TEST(Bans, only_allowed_tokens_and_end_tokens_are_drawn) {
  SamplingParams params;
  params.temperature = 5.0F;
  params.allowed_token_ids = {2, 4};
  Sampler sampler = make_sampler(params, small_vocabulary());
  std::map<int32_t, int> counts;
  for (uint64_t i = 0; i < 500; ++i) ++counts[draw(sampler, random_logits(7, i)).token];
  EXPECT_EQ(counts.size(), 3u);
  EXPECT_EQ(counts.count(2) + counts.count(4) + counts.count(6), 3u);
}

TEST(Bans, stop_tokens_wait_for_min_tokens_as_end_tokens_do) {
  SamplingParams params;
  params.min_tokens = 1;
  params.stop_token_ids = {2};
  Sampler sampler = make_sampler(params);
  EXPECT_EQ(draw(sampler, {0, 1, 5}).token, 1);
  EXPECT_EQ(draw(sampler, {0, 1, 5}).token, 2);
}

TEST(Bans, a_mask_leaves_only_its_tokens) {
  SamplingParams params;
  params.temperature = 3.0F;
  Sampler sampler = make_sampler(params);
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const size_t n = 1 + seed % 100;
    std::vector<uint32_t> mask(mask_words(n));
    std::mt19937_64 rng(seed);
    for (size_t t = 0; t < n; ++t) mask[t / 32] |= static_cast<uint32_t>(rng() % 4 == 0) << (t % 32);
    mask[0] |= 1;
    std::vector<float> logits = random_logits(n + seed % 3, seed);  // more logits than the mask knows
    const auto result = sampler.sample(logits, {}, mask);
    ASSERT_TRUE(result.is_ok());
    EXPECT_TRUE(is_allowed(mask, result->token));
    for (size_t t = 0; t < logits.size(); ++t)
      EXPECT_EQ(logits[t] == -kInf, !is_allowed(mask, static_cast<int32_t>(t)));
  }
}

TEST(Bans, a_ban_that_may_yield_yields_to_one_that_may_not) {
  SamplingParams params;
  params.min_tokens = 5;
  Sampler sampler = make_sampler(params, {2});
  std::vector<float> logits = {1, 2, 3};
  const std::vector<uint32_t> only_end = {0b100};
  const auto ended = sampler.sample(logits, {}, only_end);
  ASSERT_TRUE(ended.is_ok());
  EXPECT_EQ(ended->token, 2);

  params = {};
  params.no_repeat_ngram_size = 1;
  params.logprobs = 0;
  Sampler repeats = make_sampler(params);
  EXPECT_EQ(draw(repeats, {1, 2, 3}, {2}).token, 1);
  EXPECT_EQ(draw(repeats, {1, 2, 3}, {2, 1, 0}).token, 2);  // nothing new is left
}

TEST(Bans, bans_that_leave_nothing_are_the_requests_fault) {
  SamplingParams params;
  params.allowed_token_ids = {0};
  params.logit_bias = {{0, -kInf}};
  Sampler sampler = make_sampler(params);
  std::vector<float> logits = {1, 2};
  const auto result = sampler.sample(logits, {});
  EXPECT_EQ(result.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(result.status().message(), HasSubstr("leave none of the 2 tokens"));
}

TEST(Bans, tokens_outside_the_vocabulary_and_texts_without_one_are_refused) {
  const Vocabulary v = small_vocabulary();
  for (int which = 0; which < 4; ++which) {
    SamplingParams params;
    if (which == 0) params.logit_bias = {{7, 1.0F}};
    if (which == 1) params.stop_token_ids = {7};
    if (which == 2) params.allowed_token_ids = {7};
    if (which == 3) params.bad_token_ids = {{1, 7}};
    EXPECT_THAT(Sampler::make(params, v).status().message(), HasSubstr("the vocabulary has 7 tokens"));
  }
  SamplingParams params;
  params.bad_words = {"x"};
  EXPECT_FALSE(Sampler::make(params).is_ok());
  params = {};
  params.dry_multiplier = 1;
  EXPECT_FALSE(Sampler::make(params).is_ok());
  params.dry_sequence_breakers.clear();
  EXPECT_TRUE(Sampler::make(params).is_ok());
}

TEST(Bans, a_grammar_without_its_mask_is_an_error) {
  SamplingParams params;
  params.grammar = {GrammarKind::kJson, ""};
  Sampler sampler = make_sampler(params);
  std::vector<float> logits = {1, 2};
  EXPECT_EQ(sampler.sample(logits, {}).status().code(), StatusCode::kInternal);
}

TEST(Repeats, dry_counts_a_repeat_across_pieces_of_a_breaker) {
  // "a b a b a" with the breaker "bab" cut over three tokens: what comes after it is too short to count.
  const Vocabulary v = small_vocabulary();
  SamplingParams params;
  params.dry_multiplier = 100;
  params.dry_allowed_length = 1;
  params.dry_sequence_breakers.clear();
  const std::vector<int32_t> history = {0, 1, 0, 1, 0};
  Sampler free = make_sampler(params, v);
  EXPECT_EQ(draw(free, {0, 5, 1, 0, 0, 0, 0}, history).token, 2);
  params.dry_sequence_breakers = {"bab"};
  params.dry_allowed_length = 2;
  Sampler broken = make_sampler(params, v);
  EXPECT_EQ(draw(broken, {0, 5, 1, 0, 0, 0, 0}, history).token, 1);
}

}  // namespace
}  // namespace nereid::sample
