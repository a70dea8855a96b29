// SPDX-License-Identifier: Apache-2.0
#include "llm/sample/beam_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "llm/sample/sample_testing.h"

namespace nereid::sample {
namespace {

using ::testing::ElementsAre;

constexpr size_t kTokens = 4;  // 3 ends the text
constexpr int32_t kEnd = 3;

std::vector<float> logits_after(const std::vector<int32_t>& answer, uint64_t model) {
  uint64_t key = model + 17;
  for (int32_t t : answer) key = key * 131 + static_cast<uint64_t>(t) + 1;
  return random_logits(kTokens, key, 1.0F);
}

std::vector<Hypothesis> search(const SamplingParams& params, uint64_t model) {
  BeamSearch search(params, {kEnd});
  std::vector<Sampler> samplers(1, make_sampler(params, {kEnd}));
  while (!search.is_done()) {
    std::vector<std::vector<TokenLogprob>> continuations(search.beams());
    for (size_t b = 0; b < search.beams(); ++b) {
      const std::vector<int32_t> answer(search.tokens(b).begin(), search.tokens(b).end());
      std::vector<float> logits = logits_after(answer, model);
      samplers[0].set_step(answer.size());
      EXPECT_TRUE(
          samplers[0].continuations(logits, answer, {}, search.continuations_wanted(), &continuations[b]).is_ok());
    }
    search.advance(continuations);
  }
  return search.results();
}

double score_of(double logprob, size_t length, double penalty) {
  return logprob / std::pow(static_cast<double>(std::max<size_t>(length, 1)), penalty);
}

// Every answer there is, with its score.
void enumerate(std::vector<int32_t>& answer, double logprob, size_t most, double penalty, uint64_t model,
               std::vector<Hypothesis>* all) {
  const std::vector<double> p = softmax(logits_after(answer, model), 1.0);
  all->push_back(
      {answer, logprob + std::log(p[kEnd]), score_of(logprob + std::log(p[kEnd]), answer.size() + 1, penalty), true});
  for (int32_t t = 0; t < kEnd; ++t) {
    answer.push_back(t);
    const double next = logprob + std::log(p[static_cast<size_t>(t)]);
    if (answer.size() == most) {
      all->push_back({answer, next, score_of(next, most, penalty), false});
    } else {
      enumerate(answer, next, most, penalty, model, all);
    }
    answer.pop_back();
  }
}

TEST(BeamSearch, beams_wide_enough_find_what_a_full_enumeration_finds) {
  for (uint64_t model = 0; model < 20; ++model) {
    for (float penalty : {0.0F, 0.6F, 1.0F, 2.0F}) {
      SamplingParams params;
      params.beam_width = 64;
      params.length_penalty = penalty;
      params.early_stopping = 2;
      params.max_tokens = 4;
      const std::vector<Hypothesis> found = search(params, model);
      std::vector<Hypothesis> all;
      std::vector<int32_t> answer;
      enumerate(answer, 0, 4, penalty, model, &all);
      std::stable_sort(all.begin(), all.end(),
                       [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
      // An end must be among the 64 best continuations of its step to count; 27 beams and their ends always are.
      for (size_t i = 0; i < 10; ++i) {
        EXPECT_EQ(found[i].tokens, all[i].tokens) << "model " << model << " penalty " << penalty << " place " << i;
        EXPECT_NEAR(found[i].score, all[i].score, 1e-5);
        EXPECT_EQ(found[i].ended, all[i].ended);
      }
    }
  }
}

TEST(BeamSearch, one_beam_is_greedy) {
  for (uint64_t model = 0; model < 50; ++model) {
    SamplingParams params;
    params.beam_width = 1;
    params.max_tokens = 8;
    const std::vector<Hypothesis> found = search(params, model);
    ASSERT_EQ(found.size(), 1u);
    Sampler greedy = make_sampler({});
    std::vector<int32_t> answer;
    while (answer.size() < 8) {
      const int32_t token = draw(greedy, logits_after(answer, model)).token;
      if (token == kEnd) break;
      answer.push_back(token);
    }
    EXPECT_EQ(found[0].tokens, answer) << model;
  }
}

TEST(BeamSearch, results_are_sorted_whole_and_never_more_than_wanted) {
  for (int32_t stopping : {0, 1, 2}) {
    for (uint64_t model = 0; model < 30; ++model) {
      SamplingParams params;
      params.beam_width = 3;
      params.early_stopping = stopping;
      params.max_tokens = 12;
      const std::vector<Hypothesis> found = search(params, model);
      ASSERT_EQ(found.size(), 3u);
      for (size_t i = 1; i < found.size(); ++i) EXPECT_GE(found[i - 1].score, found[i].score);
      for (const Hypothesis& h : found) {
        EXPECT_EQ(std::count(h.tokens.begin(), h.tokens.end(), kEnd), 0);
        EXPECT_TRUE(h.ended || h.tokens.size() == 12);
      }
    }
  }
}

TEST(BeamSearch, later_stopping_never_finds_less) {
  for (uint64_t model = 0; model < 60; ++model) {
    SamplingParams params;
    params.beam_width = 3;
    params.max_tokens = 12;
    params.early_stopping = 2;
    const double last = search(params, model)[0].score;
    params.early_stopping = 1;
    EXPECT_LE(search(params, model)[0].score, last) << model;
  }
}

TEST(BeamSearch, diversity_takes_siblings_back) {
  SamplingParams params;
  params.beam_width = 2;
  params.max_tokens = 10;
  const std::vector<TokenLogprob> first = {{0, -0.1F}, {1, -2.5F}};
  const std::vector<std::vector<TokenLogprob>> start = {first};
  const std::vector<std::vector<TokenLogprob>> second = {{{0, -0.7F}, {1, -0.8F}, {2, -3.0F}},
                                                         {{0, -0.2F}, {2, -3.0F}}};
  BeamSearch plain(params, {kEnd});
  plain.advance(start);
  const auto kept = plain.advance(second);
  EXPECT_EQ(kept[0].parent, 0);
  EXPECT_EQ(kept[1].parent, 0);
  params.beam_diversity = 2.0F;
  BeamSearch diverse(params, {kEnd});
  diverse.advance(start);
  const auto spread = diverse.advance(second);
  EXPECT_EQ(spread[0].parent, 0);
  EXPECT_EQ(spread[1].parent, 1);
  EXPECT_THAT(diverse.tokens(1), ElementsAre(1, 0));
}

TEST(BeamSearch, beams_without_continuations_end_the_search) {
  SamplingParams params;
  params.beam_width = 2;
  BeamSearch search(params, {kEnd});
  const std::vector<std::vector<TokenLogprob>> nothing(1);
  EXPECT_TRUE(search.advance(nothing).empty());
  EXPECT_TRUE(search.is_done());
}

}  // namespace
}  // namespace nereid::sample
