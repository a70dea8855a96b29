// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/sampler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/test_allocations.h"
#include "llm/sample/grammar.h"
#include "llm/sample/philox.h"
#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

TEST(Philox, gives_the_published_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, uniform_numbers_stay_below_one_and_fill_the_range) {
  double sum = 0;
  for (uint64_t n = 0; n < 100'000; ++n) {
    const double u = uniform(42, n);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);
}

TEST(Sampler, greedy_takes_the_greatest_logit_and_the_lowest_token_of_a_tie) {
  Sampler sampler = make_sampler({});
  for (size_t n : {1u, 2u, 15u, 16u, 17u, 1023u, 1024u, 1025u, 5000u, 49152u}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      std::vector<float> logits = random_logits(n, seed * 7919 + n);
      if (seed % 2 == 0) {
        for (float& v : logits) v = std::round(v);  // many ties
      }
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      EXPECT_EQ(draw(sampler, logits).token, best) << "n " << n << " seed " << seed;
    }
  }
}

TEST(Sampler, greedy_leaves_the_logits_as_they_are) {
  Sampler sampler = make_sampler({});
  std::vector<float> logits = random_logits(1000, 3);
  const std::vector<float> before = logits;
  ASSERT_TRUE(sampler.sample(logits, {}).is_ok());
  EXPECT_EQ(logits, before);
}

TEST(Sampler, draws_follow_the_softmax_distribution) {
  for (float temperature : {0.5F, 1.0F, 2.0F}) {
    SamplingParams params;
    params.temperature = temperature;
    params.seed = 1234;
    Sampler sampler = make_sampler(params);
    const std::vector<float> logits = random_logits(100, 11, 1.5F);
    std::map<int32_t, int> counts;
    for (int i = 0; i < 100'000; ++i) ++counts[draw(sampler, logits).token];
    expect_distribution(counts, softmax(logits, temperature), 100'000);
  }
}

TEST(Sampler, draws_after_top_k_follow_the_distribution_of_the_k_best) {
  SamplingParams params;
  params.temperature = 1.3F;
  params.top_k = 10;
  Sampler sampler = make_sampler(params);
  std::vector<float> logits = random_logits(3000, 5);
  std::map<int32_t, int> counts;
  for (int i = 0; i < 100'000; ++i) ++counts[draw(sampler, logits).token];
  std::vector<float> sorted = logits;
  std::sort(sorted.rbegin(), sorted.rend());
  std::vector<float> kept = logits;
  for (float& v : kept) {
    if (v < sorted[9]) v = -1e9F;
  }
  EXPECT_EQ(counts.size(), 10u);
  expect_distribution(counts, softmax(kept, 1.3), 100'000);
}

TEST(Sampler, the_same_seed_and_step_draw_the_same_token) {
  SamplingParams params;
  params.temperature = 1.0F;
  params.seed = 99;
  Sampler a = make_sampler(params);
  Sampler b = make_sampler(params);
  const std::vector<float> logits = random_logits(500, 1);
  std::vector<int32_t> tokens;
  for (int i = 0; i < 50; ++i) tokens.push_back(draw(a, logits).token);
  b.set_step(20);  // a preempted sequence goes on where it was
  for (int i = 20; i < 50; ++i) EXPECT_EQ(draw(b, logits).token, tokens[static_cast<size_t>(i)]);
  params.seed = 100;
  Sampler c = make_sampler(params);
  std::vector<int32_t> others;
  for (int i = 0; i < 50; ++i) others.push_back(draw(c, logits).token);
  EXPECT_NE(tokens, others);
}

TEST(Sampler, logprobs_are_of_the_logits_before_any_step) {
  SamplingParams params;
  params.logprobs = 5;
  params.logit_bias = {{3, 50.0F}};
  Sampler sampler = make_sampler(params);
  const std::vector<float> logits = random_logits(1000, 21);
  const SampleResult result = draw(sampler, logits);
  const std::vector<double> p = softmax(logits, 1.0);
  EXPECT_EQ(result.token, 3);
  EXPECT_NEAR(result.logprob, std::log(p[3]), 1e-5);
  std::vector<int32_t> order(1000);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return p[static_cast<size_t>(a)] > p[static_cast<size_t>(b)]; });
  ASSERT_EQ(result.top.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(result.top[i].token, order[i]);
    EXPECT_NEAR(result.top[i].logprob, std::log(p[static_cast<size_t>(order[i])]), 1e-5);
  }
}

TEST(Sampler, end_tokens_wait_for_min_tokens) {
  SamplingParams params;
  params.min_tokens = 2;
  Sampler sampler = make_sampler(params, {1});
  const std::vector<float> logits = {0.0F, 9.0F, 5.0F};
  EXPECT_EQ(draw(sampler, logits).token, 2);
  EXPECT_EQ(draw(sampler, logits).token, 2);
  EXPECT_EQ(draw(sampler, logits).token, 1);
  params.min_tokens = 0;
  params.ignore_eos = 1;
  Sampler never = make_sampler(params, {1});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(draw(never, logits).token, 2);
}

TEST(Sampler, a_bias_of_minus_infinity_bans_a_token) {
  SamplingParams params;
  params.temperature = 1.0F;
  params.logit_bias = {{0, -kInf}, {99, 1.0F}};  // a token beyond the vocabulary is ignored
  Sampler sampler = make_sampler(params);
  for (int i = 0; i < 1000; ++i) EXPECT_NE(draw(sampler, {5.0F, 1.0F, 0.0F}).token, 0);
}

TEST(Sampler, penalties_keep_greedy_off_what_was_just_said) {
  SamplingParams params;
  params.repetition_penalty = 2.0F;
  Sampler sampler = make_sampler(params);
  EXPECT_EQ(draw(sampler, {4.0F, 3.0F, 1.0F}).token, 0);
  EXPECT_EQ(draw(sampler, {4.0F, 3.0F, 1.0F}, {0}).token, 1);
  EXPECT_EQ(draw(sampler, {4.0F, 3.0F, 1.0F}, {0, 1, -5, 77}).token, 0);
}

TEST(Sampler, nan_counts_as_minus_infinity) {
  Sampler greedy = make_sampler({});
  EXPECT_EQ(draw(greedy, {kNan, 1.0F, kNan, 2.0F, -kInf}).token, 3);
  SamplingParams params;
  params.temperature = 1.0F;
  params.logprobs = 3;
  Sampler sampler = make_sampler(params);
  for (int i = 0; i < 200; ++i) {
    const SampleResult r = draw(sampler, {kNan, 1.0F, kNan, 2.0F, -kInf});
    EXPECT_TRUE(r.token == 1 || r.token == 3);
    EXPECT_EQ(r.top.size(), 2u);
    EXPECT_TRUE(std::isfinite(r.logprob));
  }
}

TEST(Sampler, plus_infinity_is_certain) {
  SamplingParams params;
  params.temperature = 1.0F;
  params.logprobs = 2;
  Sampler sampler = make_sampler(params);
  const SampleResult r = draw(sampler, {0.0F, kInf, kInf});
  EXPECT_EQ(r.token, 1);
  EXPECT_EQ(r.logprob, 0.0F);
}

TEST(Sampler, no_token_above_minus_infinity_is_an_error) {
  for (float temperature : {0.0F, 1.0F}) {
    SamplingParams params;
    params.temperature = temperature;
    Sampler sampler = make_sampler(params);
    for (std::vector<float> logits :
         {std::vector<float>(3, -kInf), std::vector<float>(70, kNan), std::vector<float>()}) {
      const auto result = sampler.sample(logits, {});
      ASSERT_FALSE(result.is_ok());
      EXPECT_EQ(result.status().code(), StatusCode::kInternal);
    }
    EXPECT_EQ(sampler.step(), 0u);
  }
}

TEST(Sampler, extreme_logits_and_temperatures_draw_a_token_that_exists) {
  for (float temperature : {1e-30F, 1e-3F, 100.0F}) {
    SamplingParams params;
    params.temperature = temperature;
    params.top_p = 0.5F;
    params.typical_p = 0.5F;
    params.min_p = 0.1F;
    Sampler sampler = make_sampler(params);
    for (const std::vector<float>& logits :
         {std::vector<float>{3e38F, -3e38F, 0.0F}, std::vector<float>{-3e38F, -3e38F}, std::vector<float>{1e-40F, 0.0F},
          std::vector<float>{5.0F}}) {
      const int32_t token = draw(sampler, logits).token;
      EXPECT_GE(token, 0);
      EXPECT_LT(token, static_cast<int32_t>(logits.size()));
    }
  }
}

TEST(Sampler, allocates_nothing_once_it_has_run) {
  const Vocabulary vocabulary = byte_vocabulary({"ab", "cd"});
  std::vector<float> logits(vocabulary.size());
  std::vector<int32_t> history;
  for (int32_t i = 0; i < 200; ++i) history.push_back(i * i % 40);
  const std::vector<uint32_t> mask(mask_words(vocabulary.size()), 0xFFFFFFFFU);
  for (int which = 0; which < 6; ++which) {
    SamplingParams params;
    params.temperature = which == 0 ? 0.0F : 0.9F;
    params.repetition_penalty = 1.1F;
    params.dry_multiplier = 0.5F;
    params.no_repeat_ngram_size = 3;
    params.bad_words = {"ab", "xyz"};
    if (which == 1) params.top_k = 20;
    if (which >= 1) params.top_p = 0.9F, params.min_p = 0.01F, params.top_n_sigma = 2.0F;
    if (which == 2) params.typical_p = 0.9F, params.xtc_probability = 0.5F, params.dynatemp_range = 0.2F;
    if (which == 3) params.mirostat = 1;
    if (which == 4) params.mirostat = 2;
    if (which == 5) params.min_tokens = 1000;
    Sampler sampler = make_sampler(params, vocabulary);
    const SamplerState start = sampler.state();
    int64_t before = 0;
    for (int i = 0; i < 40; ++i) {
      for (size_t t = 0; t < logits.size(); ++t)
        logits[t] = 8 * static_cast<float>(uniform(3, static_cast<uint64_t>(i % 20) * 1000 + t));
      if (i == 20) {
        sampler.restore(start);
        before = allocation_count();
      }
      ASSERT_TRUE(sampler.sample(logits, history, mask).is_ok());
    }
    EXPECT_EQ(allocation_count(), before) << which;
  }
}

TEST(Logits, exp_is_within_two_ulp) {
  for (float x = 0.0F; x > -87.0F; x -= 0.00137F) {
    const double exact = std::exp(static_cast<double>(x));
    const float ulp = std::nextafter(static_cast<float>(exact), kInf) - static_cast<float>(exact);
    ASSERT_NEAR(exp_of(x), exact, 2.0 * ulp) << x;
  }
  EXPECT_EQ(exp_of(0.0F), 1.0F);
  EXPECT_EQ(exp_of(-kInf), 0.0F);
  EXPECT_EQ(exp_of(kNan), 0.0F);
}

TEST(Logits, log_sum_exp_agrees_with_double_precision) {
  for (size_t n : {1u, 7u, 8u, 9u, 1000u, 49152u}) {
    const std::vector<float> logits = random_logits(n, n);
    double sum = 0;
    for (float v : logits) sum += std::exp(static_cast<double>(v));
    EXPECT_NEAR(log_sum_exp(logits), std::log(sum), 1e-6);
  }
}

TEST(Logits, selection_equals_a_full_sort) {
  std::vector<float> scratch;
  std::vector<Candidate> out;
  for (size_t n : {1u, 63u, 64u, 65u, 1000u, 49153u}) {
    for (size_t k : {0u, 1u, 2u, 40u, 64u, 500u, 100'000u}) {
      std::vector<float> logits = random_logits(n, n + k);
      if (k % 2 == 0) {
        for (float& v : logits) v = std::round(v);
      }
      if (n > 10) logits[5] = kNan, logits[7] = -kInf;
      std::vector<Candidate> all;
      for (size_t i = 0; i < n; ++i) {
        if (logits[i] > -kInf) all.push_back({static_cast<int32_t>(i), logits[i]});
      }
      std::sort(all.begin(), all.end(), is_better);
      all.resize(std::min(k, all.size()));
      select_top(logits, k, &scratch, &out);
      ASSERT_EQ(out.size(), all.size()) << n << " " << k;
      for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(out[i].token, all[i].token) << n << " " << k;
    }
  }
}

}  // namespace
}  // namespace nereid::sample
