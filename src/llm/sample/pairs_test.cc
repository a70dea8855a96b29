// SPDX-License-Identifier: Apache-2.0
// Every feature of sampling with every other: one loop over a small random model, one table of features, invariants
// that hold whatever the pair. What each feature promises is checked in every run that has it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "llm/sample/beam_search.h"
#include "llm/sample/draft.h"
#include "llm/sample/reference_chain_testing.h"
#include "llm/sample/stop_matcher.h"

namespace nereid::sample {
namespace {

constexpr size_t kSteps = 24;
constexpr int32_t kEnd = 11;

const Vocabulary& words() {
  static const Vocabulary vocabulary =
      make_vocabulary({"a", "b", "c", "d", "ab", "cd", "1", "2", "12", "\n", ":", ""}, {kEnd});
  return vocabulary;
}

struct Run {
  std::vector<int32_t> prompt;
  std::vector<int32_t> answer;  // with the end token, where it ended by one
  std::vector<SampleResult> results;
  std::vector<std::vector<float>> raw;  // the logits of each step
  std::string text;
  bool ended = false;    // by an end token
  bool stopped = false;  // by a stop text
};

struct Feature {
  std::string_view name;
  void (*set)(SamplingParams&);
  void (*check)(const SamplingParams&, const Run&);
};

void nothing(const SamplingParams&, const Run&) {}

void check_bias(const SamplingParams&, const Run& run) {
  for (int32_t t : run.answer) EXPECT_NE(t, 3);
}
void check_allowed(const SamplingParams& p, const Run& run) {
  for (int32_t t : run.answer)
    EXPECT_TRUE(t == kEnd || std::count(p.allowed_token_ids.begin(), p.allowed_token_ids.end(), t) > 0 ||
                std::count(p.stop_token_ids.begin(), p.stop_token_ids.end(), t) > 0);
}
void check_bad_words(const SamplingParams& p, const Run& run) {
  for (const std::string& word : p.bad_words) EXPECT_EQ(run.text.find(word), std::string::npos) << run.text;
}
void check_bad_tokens(const SamplingParams& p, const Run& run) {
  for (const auto& bad : p.bad_token_ids)
    EXPECT_EQ(std::search(run.answer.begin(), run.answer.end(), bad.begin(), bad.end()), run.answer.end());
}
// Grammars may end an answer before: nothing else is allowed then.
void check_min_tokens(const SamplingParams& p, const Run& run) {
  if (run.ended && p.grammar.is_none()) {
    EXPECT_GT(run.answer.size(), static_cast<size_t>(p.min_tokens));
  }
}
void check_ignore_eos(const SamplingParams& p, const Run& run) {
  if (p.grammar.is_none()) {
    EXPECT_FALSE(run.ended);
  }
}
void check_logprobs(const SamplingParams& p, const Run& run) {
  for (size_t i = 0; i < run.results.size(); ++i) {
    const std::vector<double> q = softmax(run.raw[i], 1.0);
    EXPECT_NEAR(run.results[i].logprob, std::log(q[static_cast<size_t>(run.answer[i])]), 1e-4);
    EXPECT_EQ(run.results[i].top.size(), static_cast<size_t>(p.logprobs));
  }
}
void check_stop(const SamplingParams& p, const Run& run) {
  EXPECT_EQ(run.stopped, run.text.find(p.stop[0]) != std::string::npos);
  if (run.stopped) {
    EXPECT_GE(run.text.find(p.stop[0]) + p.stop[0].size() + 2, run.text.size());  // at once: pieces have 2 bytes
  }
}
void check_regex(const SamplingParams&, const Run& run) {
  // [ab]*(12)+ or a beginning of it
  const size_t digits = std::min(run.text.find_first_not_of("ab"), run.text.size());
  const std::string rest = run.text.substr(digits);
  for (size_t i = 0; i < rest.size(); ++i) EXPECT_EQ(rest[i], i % 2 == 0 ? '1' : '2') << run.text;
  if (run.ended) {
    EXPECT_TRUE(!rest.empty() && rest.size() % 2 == 0) << run.text;
  }
}
void check_choice(const SamplingParams&, const Run& run) {
  const std::vector<std::string> choices = {"abcd", "ab12", "d"};
  EXPECT_TRUE(std::any_of(choices.begin(), choices.end(), [&](const std::string& c) {
    return run.ended ? c == run.text : c.starts_with(run.text);
  })) << run.text;
}

constexpr Feature kFeatures[] = {
    {"plain", [](SamplingParams&) {}, nothing},
    {"greedy", [](SamplingParams& p) { p.temperature = 0; }, nothing},
    {"temperature", [](SamplingParams& p) { p.temperature = 0.6F; }, nothing},
    {"dynatemp", [](SamplingParams& p) { p.dynatemp_range = 0.4F, p.dynatemp_exponent = 1.5F; }, nothing},
    {"top_k", [](SamplingParams& p) { p.top_k = 4; }, nothing},
    {"top_p", [](SamplingParams& p) { p.top_p = 0.8F; }, nothing},
    {"min_p", [](SamplingParams& p) { p.min_p = 0.08F; }, nothing},
    {"typical_p", [](SamplingParams& p) { p.typical_p = 0.7F; }, nothing},
    {"top_n_sigma", [](SamplingParams& p) { p.top_n_sigma = 1.3F; }, nothing},
    {"xtc", [](SamplingParams& p) { p.xtc_probability = 0.6F, p.xtc_threshold = 0.12F; }, nothing},
    {"mirostat 1", [](SamplingParams& p) { p.mirostat = 1, p.mirostat_tau = 2.0F; }, nothing},
    {"mirostat 2", [](SamplingParams& p) { p.mirostat = 2, p.mirostat_tau = 1.5F; }, nothing},
    {"penalties",
     [](SamplingParams& p) { p.repetition_penalty = 1.3F, p.presence_penalty = 0.2F, p.frequency_penalty = 0.1F; },
     nothing},
    {"dry", [](SamplingParams& p) { p.dry_multiplier = 1.1F, p.dry_allowed_length = 1; }, nothing},
    {"no_repeat_ngram", [](SamplingParams& p) { p.no_repeat_ngram_size = 3; }, nothing},
    {"logit_bias",
     [](SamplingParams& p) {
       p.logit_bias = {{0, 1.5F}, {3, -kInf}};
     },
     check_bias},
    {"allowed_token_ids", [](SamplingParams& p) { p.allowed_token_ids = {0, 1, 4, 6, 7, 8}; }, check_allowed},
    {"bad_words",
     [](SamplingParams& p) {
       p.bad_words = {"ba", "22"};
     },
     check_bad_words},
    {"bad_token_ids",
     [](SamplingParams& p) {
       p.bad_token_ids = {{2}, {4, 4}};
     },
     check_bad_tokens},
    {"min_tokens", [](SamplingParams& p) { p.min_tokens = 6; }, check_min_tokens},
    {"ignore_eos", [](SamplingParams& p) { p.ignore_eos = 1; }, check_ignore_eos},
    {"stop_token_ids", [](SamplingParams& p) { p.stop_token_ids = {10}; }, nothing},
    {"stop", [](SamplingParams& p) { p.stop = {"ab1"}; }, check_stop},
    {"logprobs", [](SamplingParams& p) { p.logprobs = 3; }, check_logprobs},
    {"best_of", [](SamplingParams& p) { p.best_of = 3; }, nothing},
    {"speculation", [](SamplingParams& p) { p.draft_tokens = 3, p.draft_ngram = 2; }, nothing},
    {"beam search", [](SamplingParams& p) { p.beam_width = 3; }, nothing},
    {"regex",
     [](SamplingParams& p) {
       p.grammar = {GrammarKind::kRegex, "[ab]*(12)+"};
     },
     check_regex},
    {"choice",
     [](SamplingParams& p) {
       p.grammar = {GrammarKind::kChoice, R"(["abcd", "ab12", "d"])"};
     },
     check_choice},
};

// A model that looks back at three tokens.
std::vector<float> logits_of(uint64_t model, const std::vector<int32_t>& history) {
  uint64_t key = model;
  for (size_t i = history.size() < 3 ? 0 : history.size() - 3; i < history.size(); ++i)
    key = key * 131 + static_cast<uint64_t>(history[i]) + 1;
  return random_logits(words().size(), key, 1.5F);
}

class Loop {
 public:
  Loop(const SamplingParams& params, uint64_t model, std::shared_ptr<const CompiledGrammar> grammar)
      : params_(params), model_(model), grammar_(std::move(grammar)) {
    run_.prompt = {0, 1, 4, 6, 0, 1};
  }

  // `restored`: at half way all state is moved into a new sampler and a new matcher. `guessing`: each step a draft
  // model guesses, and the sampler judges the guess.
  Run go(bool compare, bool restored, bool guessing) {
    Sampler sampler = make_sampler(params_, words());
    std::unique_ptr<GrammarMatcher> matcher = new_matcher();
    StopMatcher stops(params_.stop);
    std::vector<int32_t> history = run_.prompt;
    std::vector<uint32_t> mask;
    for (size_t i = 0; i < kSteps; ++i) {
      if (restored && i == kSteps / 2) {
        const SamplerState state = sampler.state();
        sampler = make_sampler(params_, words());
        sampler.restore(state);
        matcher = new_matcher();
        for (int32_t t : run_.answer)
          if (matcher) {
            EXPECT_TRUE(matcher->accept(t));
          }
      }
      mask.clear();
      if (matcher) {
        mask.resize(mask_words(words().size()));
        matcher->fill_mask(mask);
      }
      std::vector<float> logits = logits_of(model_, history);
      run_.raw.push_back(logits);
      if (compare) compare_with_reference(sampler, history, mask, i);
      const auto drawn = guessing ? judge(sampler, logits, history, mask, i) : sampler.sample(logits, history, mask);
      if (!drawn.is_ok()) {
        // Hard bans and a grammar may contradict each other: then it must say so, and nothing else may fail.
        EXPECT_EQ(drawn.status().code(), StatusCode::kInvalidArgument) << drawn.status().message();
        EXPECT_TRUE(!params_.grammar.is_none() || !params_.allowed_token_ids.empty()) << drawn.status().message();
        run_.raw.pop_back();
        return run_;
      }
      if (matcher) {
        EXPECT_TRUE(matcher->accept(drawn->token)) << "the grammar refuses " << drawn->token;
      }
      run_.results.push_back(*drawn);
      run_.answer.push_back(drawn->token);
      history.push_back(drawn->token);
      const bool is_stop = std::count(params_.stop_token_ids.begin(), params_.stop_token_ids.end(), drawn->token) > 0;
      if (drawn->token == kEnd || is_stop) {
        run_.ended = true;
        break;
      }
      run_.text += words().piece(drawn->token);
      stops.push(words().piece(drawn->token));
      if (stops.is_stopped()) {
        run_.stopped = true;
        break;
      }
    }
    return run_;
  }

  // The answers of a beam search: whatever bans there are hold in every one of them.
  std::vector<Run> beams() {
    BeamSearch search(params_, words().end_tokens());
    std::vector<std::shared_ptr<GrammarMatcher>> matchers = {new_matcher()};
    Sampler sampler = make_sampler(params_, words());
    for (size_t i = 0; i < kSteps && !search.is_done(); ++i) {
      std::vector<std::vector<TokenLogprob>> next(search.beams());
      for (size_t b = 0; b < search.beams(); ++b) {
        std::vector<int32_t> history = run_.prompt;
        history.insert(history.end(), search.tokens(b).begin(), search.tokens(b).end());
        std::vector<uint32_t> mask;
        if (matchers[b]) {
          mask.resize(mask_words(words().size()));
          matchers[b]->fill_mask(mask);
        }
        std::vector<float> logits = logits_of(model_, history);
        sampler.set_step(i);
        const Status s = sampler.continuations(logits, history, mask, search.continuations_wanted(), &next[b]);
        if (!s.is_ok()) {
          EXPECT_EQ(s.code(), StatusCode::kInvalidArgument);
        }
      }
      std::vector<std::shared_ptr<GrammarMatcher>> moved;
      for (const BeamStep& step : search.advance(next)) {
        const auto& parent = matchers[static_cast<size_t>(step.parent)];
        moved.push_back(parent ? parent->fork() : nullptr);
        if (parent) {
          EXPECT_TRUE(moved.back()->accept(step.token));
        }
      }
      matchers = std::move(moved);
    }
    std::vector<Run> runs;
    for (const Hypothesis& h : search.results()) {
      Run run;
      run.prompt = run_.prompt;
      run.answer = h.tokens;
      for (int32_t t : h.tokens) run.text += words().piece(t);
      run.ended = h.ended;
      if (h.ended) run.answer.push_back(kEnd);
      runs.push_back(std::move(run));
    }
    return runs;
  }

 private:
  std::unique_ptr<GrammarMatcher> new_matcher() const {
    if (!grammar_) return nullptr;
    auto matcher = GrammarMatcher::make(grammar_);
    EXPECT_TRUE(matcher.is_ok());
    return *std::move(matcher);
  }

  void compare_with_reference(Sampler sampler, const std::vector<int32_t>& history, std::span<const uint32_t> mask,
                              size_t step) {
    std::vector<float> logits = logits_of(model_, history);
    const std::vector<float> raw = logits;
    std::vector<TokenProbability> found;
    const Status s = sampler.distribution(logits, history, mask, &found);
    if (!s.is_ok()) return;  // sample() will say the same
    const ReferenceChain reference({params_, words(), raw, history, step, mask, sampler.state().mirostat_mu});
    if (reference.is_close()) return;
    const std::map<int32_t, double> expected = reference.probabilities();
    ASSERT_EQ(found.size(), expected.size()) << "step " << step;
    for (const TokenProbability& x : found) {
      ASSERT_EQ(expected.count(x.token), 1u) << x.token;
      EXPECT_NEAR(x.probability, expected.at(x.token), 1e-4) << x.token;
    }
    ++compared;
  }

  Result<SampleResult> judge(Sampler& sampler, std::vector<float>& logits, const std::vector<int32_t>& history,
                             std::span<const uint32_t> mask, size_t step) {
    SamplingParams draft;
    draft.temperature = 1.0F;
    draft.seed = draft_seed(params_.seed);
    Sampler drafter = make_sampler(draft);
    drafter.set_step(step);
    std::vector<float> draft_logits = logits_of(model_ + 1, history);
    std::vector<float> copy = draft_logits;
    std::vector<TokenProbability> q;
    EXPECT_TRUE(drafter.distribution(copy, history, {}, &q).is_ok());
    const int32_t guess = drafter.sample(draft_logits, history)->token;
    return sampler.sample_guess(logits, history, mask, {guess, q});
  }

  SamplingParams params_;
  uint64_t model_;
  std::shared_ptr<const CompiledGrammar> grammar_;
  Run run_;

 public:
  static inline int compared = 0;  // distributions that were compared, in all
};

std::shared_ptr<const CompiledGrammar> compile(const SamplingParams& params) {
  if (params.grammar.is_none()) return nullptr;
  static const auto compiler = GrammarCompiler::make(words());
  EXPECT_TRUE(compiler.is_ok());
  auto grammar = (*compiler)->compile(params.grammar);
  EXPECT_TRUE(grammar.is_ok()) << grammar.status().message();
  return *grammar;
}

void run_pair(const Feature& a, const Feature& b, uint64_t model) {
  SamplingParams params;
  params.temperature = 1.0F;
  params.seed = model * 7 + 1;
  a.set(params);
  b.set(params);
  const auto grammar = compile(params);
  if (params.is_beam_search()) {
    for (const Run& run : Loop(params, model, grammar).beams()) {
      if (params.logprobs < 0 && params.stop.empty()) {  // those are the loop's
        a.check(params, run);
        b.check(params, run);
      }
    }
    return;
  }
  const Run first = Loop(params, model, grammar).go(true, false, false);
  a.check(params, first);
  b.check(params, first);
  const Run again = Loop(params, model, grammar).go(false, false, false);
  EXPECT_EQ(again.answer, first.answer) << "the same seed, another answer";
  const Run restored = Loop(params, model, grammar).go(false, true, false);
  EXPECT_EQ(restored.answer, first.answer) << "restored, another answer";
  if (params.draft_tokens > 0) {
    // Prompt lookup only ever guesses what sample() then draws or not: its answer is the answer. A draft model's
    // guesses are judged: what must hold of answers holds of these.
    const Run judged = Loop(params, model, grammar).go(true, false, true);
    a.check(params, judged);
    b.check(params, judged);
    if (params.is_greedy()) {
      EXPECT_EQ(judged.answer, first.answer);
    }
  }
}

class Pairs : public ::testing::TestWithParam<size_t> {};

TEST_P(Pairs, keep_what_each_of_them_promises) {
  const Feature& a = kFeatures[GetParam()];
  for (const Feature& b : kFeatures) {
    SamplingParams params;
    a.set(params);
    b.set(params);
    if (!params.grammar.is_none() && !has_grammars()) continue;
    // Two grammars: the second replaces the first, whose promise then does not hold.
    if (a.name != b.name && a.check != nothing && b.check != nothing &&
        (a.check == check_regex || a.check == check_choice) && (b.check == check_regex || b.check == check_choice))
      continue;
    for (uint64_t model = 0; model < 3; ++model) {
      SCOPED_TRACE(fmt::format("{} with {}, model {}", a.name, b.name, model));
      run_pair(a, b, model);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Features, Pairs, ::testing::Range(size_t{0}, std::size(kFeatures)),
                         [](const ::testing::TestParamInfo<size_t>& row) {
                           std::string name(kFeatures[row.param].name);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// Runs after the pairs (by the order of the file): the reference was asked often enough to mean something.
TEST(PairsDone, distributions_were_compared) {
  const int before = Loop::compared;
  SamplingParams params;
  params.temperature = 1.0F;
  Loop(params, 0, nullptr).go(true, false, false);
  EXPECT_GT(Loop::compared, before);
}

}  // namespace
}  // namespace nereid::sample
