// SPDX-License-Identifier: Apache-2.0
// Speculation changes the time, never the distribution.
#include "llm/sample/accept.h"

#include <gtest/gtest.h>

#include "llm/sample/draft.h"
#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

constexpr size_t kTokens = 6;

// A model of six tokens that looks back at two.
std::vector<float> logits_of(uint64_t model, const std::vector<int32_t>& history) {
  uint64_t key = model;
  for (size_t i = history.size() < 2 ? 0 : history.size() - 2; i < history.size(); ++i)
    key = key * 31 + static_cast<uint64_t>(history[i]) + 1;
  return random_logits(kTokens, key, 1.5F);
}

std::vector<double> probabilities(Sampler sampler, uint64_t model, const std::vector<int32_t>& history) {
  std::vector<float> logits = logits_of(model, history);
  std::vector<TokenProbability> found;
  EXPECT_TRUE(sampler.distribution(logits, history, {}, &found).is_ok());
  std::vector<double> p(kTokens);
  for (const TokenProbability& x : found) p[static_cast<size_t>(x.token)] = x.probability;
  return p;
}

struct Case {
  std::string_view name;
  void (*set)(SamplingParams&);
};
constexpr Case kCases[] = {
    {"temperature", [](SamplingParams&) {}},
    {"sharp", [](SamplingParams& p) { p.temperature = 0.4F; }},
    {"top_k", [](SamplingParams& p) { p.top_k = 3; }},
    {"top_p", [](SamplingParams& p) { p.top_p = 0.7F; }},
    {"min_p", [](SamplingParams& p) { p.min_p = 0.2F; }},
    {"typical_p", [](SamplingParams& p) { p.typical_p = 0.6F; }},
    {"top_n_sigma", [](SamplingParams& p) { p.top_n_sigma = 1.2F; }},
    {"dynatemp", [](SamplingParams& p) { p.dynatemp_range = 0.5F; }},
    {"penalties", [](SamplingParams& p) { p.frequency_penalty = 0.7F; }},
    {"bias",
     [](SamplingParams& p) {
       p.logit_bias = {{1, 1.0F}, {2, -kInf}};
     }},
};

// Two tokens are guessed by a draft model and judged by the target; the pair that comes out is counted.
TEST(Speculation, the_joint_distribution_of_two_tokens_is_the_targets) {
  constexpr int kDraws = 40'000;
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.name);
    SamplingParams params;
    params.temperature = 1.0F;
    one.set(params);
    SamplingParams draft_params;  // the draft need not know the target's settings
    draft_params.temperature = 1.3F;
    std::map<int32_t, int> counts;
    int accepted = 0;
    std::vector<TokenProbability> q;
    for (int d = 0; d < kDraws; ++d) {
      params.seed = static_cast<uint64_t>(d);
      draft_params.seed = draft_seed(params.seed);
      Sampler target = make_sampler(params);
      Sampler drafter = make_sampler(draft_params);
      std::vector<int32_t> history = {3};
      bool guessing = true;
      for (int i = 0; i < 2; ++i) {
        std::vector<float> target_logits = logits_of(1, history);
        Result<SampleResult> result = internal("none");
        if (guessing) {
          std::vector<float> draft_logits = logits_of(2, history);
          std::vector<float> copy = draft_logits;
          ASSERT_TRUE(drafter.distribution(copy, history, {}, &q).is_ok());
          const int32_t guess = drafter.sample(draft_logits, history)->token;
          result = target.sample_guess(target_logits, history, {}, {guess, q});
          guessing = result.is_ok() && result->token == guess;
          accepted += guessing ? 1 : 0;
        } else {
          result = target.sample(target_logits, history);
        }
        ASSERT_TRUE(result.is_ok());
        history.push_back(result->token);
      }
      ++counts[history[1] * static_cast<int32_t>(kTokens) + history[2]];
    }
    EXPECT_GT(accepted, kDraws / 10);  // or nothing was judged
    EXPECT_LT(accepted, 2 * kDraws);
    Sampler exact = make_sampler(params);
    const std::vector<double> first = probabilities(exact, 1, {3});
    std::vector<double> joint(kTokens * kTokens);
    for (size_t a = 0; a < kTokens; ++a) {
      const std::vector<double> second = probabilities(exact, 1, {3, static_cast<int32_t>(a)});
      for (size_t b = 0; b < kTokens; ++b) joint[a * kTokens + b] = first[a] * second[b];
    }
    expect_distribution(counts, joint, kDraws);
  }
}

TEST(Speculation, greedy_takes_a_guess_exactly_where_it_is_the_best_token) {
  Sampler sampler = make_sampler({});
  const std::vector<TokenProbability> q = {{1, 0.5F}, {2, 0.5F}};
  for (int32_t guess : {1, 2}) {
    std::vector<float> logits = {0, 1, 2};
    EXPECT_EQ(sampler.sample_guess(logits, {}, {}, {guess, q})->token, 2);
  }
}

TEST(Speculation, a_guess_that_is_banned_or_was_not_drawn_from_its_distribution_is_not_taken) {
  SamplingParams params;
  params.temperature = 1.0F;
  params.logit_bias = {{0, -kInf}};
  Sampler sampler = make_sampler(params);
  const std::vector<TokenProbability> q = {{0, 1.0F}};
  for (int i = 0; i < 200; ++i) {
    std::vector<float> logits = {5, 0, 0};
    EXPECT_NE(sampler.sample_guess(logits, {}, {}, {0, q})->token, 0);
    logits = {-kInf, 0, 0};
    EXPECT_NE(sampler.sample_guess(logits, {}, {}, {7, q})->token, 7);
  }
}

TEST(Speculation, the_same_distribution_accepts_every_guess) {
  SamplingParams params;
  params.temperature = 1.0F;
  Sampler sampler = make_sampler(params);
  const std::vector<float> logits = logits_of(1, {});
  std::vector<float> copy = logits;
  std::vector<TokenProbability> q;
  ASSERT_TRUE(sampler.distribution(copy, {}, {}, &q).is_ok());
  for (int32_t guess = 0; guess < static_cast<int32_t>(kTokens); ++guess) {
    copy = logits;
    EXPECT_EQ(sampler.sample_guess(copy, {}, {}, {guess, q})->token, guess);
  }
}

// The definition, place by place.
std::vector<int32_t> expected_draft(const std::vector<int32_t>& h, const LookupOptions& o) {
  const std::vector<int32_t> history(h.end() - std::min<std::ptrdiff_t>(o.window, std::ssize(h)), h.end());
  for (size_t n = std::min<size_t>(static_cast<size_t>(o.ngram), history.size() - 1); n > 0; --n) {
    for (size_t begin = history.size() - n; begin-- > 0;) {
      if (!std::equal(history.end() - static_cast<std::ptrdiff_t>(n), history.end(),
                      history.begin() + static_cast<std::ptrdiff_t>(begin)))
        continue;
      std::vector<int32_t> draft(history.begin() + static_cast<std::ptrdiff_t>(begin + n), history.end());
      draft.resize(std::min(draft.size(), static_cast<size_t>(o.tokens)));
      return draft;
    }
  }
  return {};
}

TEST(PromptLookup, follows_the_latest_of_the_longest_matches) {
  std::mt19937_64 rng(5);
  std::vector<int32_t> draft;
  int found = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<int32_t> history(1 + rng() % 40);
    for (int32_t& t : history) t = static_cast<int32_t>(rng() % (2 + rng() % 8));
    const LookupOptions options{static_cast<int32_t>(1 + rng() % 6), static_cast<int32_t>(1 + rng() % 4),
                                static_cast<int64_t>(1 + rng() % 50)};
    look_up_draft(history, options, &draft);
    EXPECT_EQ(draft, expected_draft(history, options));
    found += draft.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 2000);
  look_up_draft({}, {}, &draft);
  EXPECT_TRUE(draft.empty());
}

}  // namespace
}  // namespace nereid::sample
