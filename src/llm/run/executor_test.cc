// SPDX-License-Identifier: Apache-2.0
// Requests in company get what they get alone (Generator, which is held to transformers by generate_test.cc), and
// everything that may end them does so in time.
#include "llm/run/executor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>

#include "base/cpu_limits.h"
#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"
#include "llm/sample/beam_search.h"

namespace nereid::llm {
namespace {

using testing::alone;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::Listener;
using ::testing::MatchesRegex;
using testing::TinyModel;
using testing::Told;

constexpr const char* kName = "tiny-qwen3";

// A tiny model with an executor on it, and the same model for one request at a time.
struct Company {
  explicit Company(ExecutorOptions options = {}, int threads = 2, const char* name = kName)
      : served(name, load_options(options), threads), single(name) {
    executor = Executor::start(*served.model, options).value();
  }
  TinyModel served, single;
  std::unique_ptr<Executor> executor;
};

std::vector<int32_t> some_tokens(std::mt19937& random, size_t n) {
  std::vector<int32_t> tokens(n);
  for (int32_t& t : tokens) t = static_cast<int32_t>(random() % 200) + 20;
  return tokens;
}

// Settings of every kind: what is asked of one request must not reach another.
sample::SamplingParams some_params(std::mt19937& random) {
  sample::SamplingParams p;
  p.max_tokens = 1 + static_cast<int32_t>(random() % 40);
  if (random() % 2 == 0) return p;
  p.temperature = 0.5F + static_cast<float>(random() % 10) / 8;
  p.seed = random();
  switch (random() % 4) {
    case 0:
      p.top_k = 20;
      break;
    case 1:
      p.top_p = 0.9F;
      p.repetition_penalty = 1.2F;
      break;
    case 2:
      p.min_p = 0.05F;
      p.logprobs = 2;
      break;
    default:
      p.presence_penalty = 0.5F;
      p.logit_bias = {{30, 2.0F}, {40, -5.0F}};
  }
  return p;
}

struct Asked {
  Request request;
  std::unique_ptr<Listener> listener;
};

// So many requests from two threads at odd times; half of the prompts begin alike. Each must get what it gets alone.
void expect_company_changes_nothing(Company& company, int requests, uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<int32_t> shared = some_tokens(random, 45);
  std::vector<Asked> asked(static_cast<size_t>(requests));
  for (Asked& a : asked) {
    if (random() % 2 == 0) a.request.prompt.assign(shared.begin(), shared.begin() + 1 + random() % 45);
    const std::vector<int32_t> own = some_tokens(random, 1 + random() % 30);
    a.request.prompt.insert(a.request.prompt.end(), own.begin(), own.end());
    a.request.params = some_params(random);
    a.request.choices = random() % 5 == 0 ? 3 : 1;
    a.request.priority = static_cast<int32_t>(random() % 3);
    a.request.user = random() % 2 == 0 ? "one" : "other";
    a.listener = std::make_unique<Listener>(a.request.choices);
  }
  const auto send = [&](size_t first, uint32_t pauses) {
    std::mt19937 when(pauses);
    for (size_t i = first; i < asked.size(); i += 2) {
      const Status s = company.executor->enqueue(asked[i].request, asked[i].listener->callback()).status();
      EXPECT_TRUE(s.is_ok()) << s.message();
      if (when() % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(when() % 2000));
    }
  };
  std::thread other(send, 1, seed + 1);
  send(0, seed + 2);
  other.join();
  for (size_t i = 0; i < asked.size(); ++i) {
    asked[i].listener->wait();
    for (int32_t c = 0; c < asked[i].request.choices; ++c)
      expect_same(asked[i].listener->told(static_cast<size_t>(c)), alone(*company.single.model, asked[i].request, c),
                  fmt::format("seed {}, request {}, choice {}", seed, i, c));
  }
  const ExecutorStats stats = company.executor->stats();
  EXPECT_EQ(stats.requests_done, requests);
  EXPECT_EQ(stats.requests_failed, 0);
  EXPECT_EQ(stats.requests_running + stats.requests_waiting, 0);
  EXPECT_EQ(stats.pages_used, 0) << "pages were leaked";
}

TEST(Executor, requests_that_join_and_leave_at_random_get_what_they_get_alone) {
  Company company({.max_sequences = 8, .step_tokens = 24});
  expect_company_changes_nothing(company, 60, 1);
  EXPECT_GT(company.executor->stats().reused_tokens, 0) << "prompts that began alike were not found";
}

TEST(Executor, the_same_with_so_few_pages_that_requests_are_paused_and_begin_again) {
  Company company({.max_sequences = 6, .step_tokens = 32, .cache_tokens = 160});
  expect_company_changes_nothing(company, 40, 2);
  EXPECT_GT(company.executor->stats().preemptions, 0);
}

TEST(Executor, the_same_without_a_prefix_cache_and_with_one_thread) {
  Company company({.max_sequences = 4, .step_tokens = 16, .reuse_prefixes = false}, 1, "tiny-gemma3");
  expect_company_changes_nothing(company, 20, 3);
  EXPECT_EQ(company.executor->stats().reused_tokens, 0);
}

TEST(Executor, a_prompt_that_was_seen_before_is_not_computed_again) {
  Company company;
  std::mt19937 random(4);
  Request request{.prompt = some_tokens(random, 100), .params = {.max_tokens = 4}};
  Listener first, second;
  ASSERT_TRUE(company.executor->enqueue(request, first.callback()).is_ok());
  first.wait();
  EXPECT_EQ(first.told().last.reused_tokens, 0);
  ASSERT_TRUE(company.executor->enqueue(request, second.callback()).is_ok());
  second.wait();
  EXPECT_GE(second.told().last.reused_tokens, 96) << "all whole pages of 16";
  EXPECT_EQ(second.told().tokens, first.told().tokens);
}

TEST(Executor, a_cancelled_request_ends_within_a_step_and_gives_its_pages_back) {
  Company company;
  std::mt19937 random(5);
  Listener listener;
  listener.hold();
  const Result<RequestId> id = company.executor->enqueue(
      {.prompt = some_tokens(random, 20), .params = {.max_tokens = 200, .ignore_eos = 1}}, listener.callback());
  ASSERT_TRUE(id.is_ok());
  listener.wait_for_tokens(1);
  company.executor->cancel(*id);
  listener.release();
  listener.wait();
  EXPECT_EQ(listener.told().last.finish_reason, FinishReason::kCancelled);
  EXPECT_TRUE(listener.told().last.status.is_ok());
  EXPECT_EQ(listener.told().tokens.size(), 1U);
  EXPECT_EQ(company.executor->stats().pages_used, 0);
  EXPECT_EQ(company.executor->stats().requests_cancelled, 1);
  company.executor->cancel(*id);       // has ended: nothing happens
  company.executor->cancel({123456});  // never was
}

TEST(Executor, a_request_that_waits_can_be_cancelled_and_its_callback_may_call_back) {
  Company company({.max_sequences = 1});
  std::mt19937 random(6);
  const Request longest{.prompt = some_tokens(random, 20), .params = {.max_tokens = 100, .ignore_eos = 1}};
  Listener running, waiting;
  running.hold();
  const Result<RequestId> first = company.executor->enqueue(longest, running.callback());
  const Result<RequestId> second = company.executor->enqueue(longest, [&](Output&& output) {
    if (output.is_last) company.executor->cancel(*first);
    waiting.take(std::move(output));
  });
  ASSERT_TRUE(first.is_ok() && second.is_ok());
  running.wait_for_tokens(1);
  company.executor->cancel(*second);
  running.release();
  waiting.wait();
  running.wait();
  EXPECT_EQ(waiting.told().outputs, 1);
  EXPECT_EQ(waiting.told().last.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(running.told().last.finish_reason, FinishReason::kCancelled);
}

TEST(Executor, a_request_ends_when_its_time_is_over_whether_it_runs_or_waits) {
  Company company({.max_sequences = 1});
  std::mt19937 random(7);
  Listener running, waiting;
  Request request{.prompt = some_tokens(random, 5), .params = {.max_tokens = 240, .ignore_eos = 1}};
  request.timeout_us = 1;
  ASSERT_TRUE(company.executor->enqueue(request, running.callback()).is_ok());
  ASSERT_TRUE(company.executor->enqueue(request, waiting.callback()).is_ok());
  running.wait();
  waiting.wait();
  EXPECT_EQ(running.told().last.finish_reason, FinishReason::kTimeout);
  EXPECT_EQ(waiting.told().last.finish_reason, FinishReason::kTimeout);
  EXPECT_EQ(company.executor->stats().requests_timed_out, 2);
}

TEST(Executor, choices_draw_with_seeds_of_their_own_from_one_prompt) {
  Company company;
  std::mt19937 random(8);
  const Request request{
      .prompt = some_tokens(random, 50), .params = {.temperature = 1.0F, .seed = 9, .max_tokens = 20}, .choices = 4};
  Listener listener(4);
  ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
  listener.wait();
  for (int32_t c = 0; c < 4; ++c)
    expect_same(listener.told(static_cast<size_t>(c)), alone(*company.single.model, request, c), fmt::to_string(c));
  EXPECT_NE(listener.told(0).tokens, listener.told(1).tokens);
  EXPECT_EQ(company.executor->stats().prompt_tokens, 50);
}

TEST(Executor, best_of_draws_more_answers_and_tells_the_likeliest_of_them) {
  Company company({.max_sequences = 8});
  std::mt19937 random(16);
  Request request{.prompt = some_tokens(random, 20), .params = {.temperature = 1.0F, .seed = 3, .max_tokens = 10}};
  std::vector<std::pair<double, Generated>> all;
  for (int32_t c = 0; c < 6; ++c) {
    double sum = 0;
    Generator generator(*company.single.model);
    sample::SamplingParams params = request.params;
    params.seed += static_cast<uint64_t>(c);
    params.logprobs = 0;
    all.emplace_back(0, generator
                            .generate(request.prompt, params,
                                      [&](const Piece& piece) {
                                        if (piece.sample) sum += piece.sample->logprob;
                                        return true;
                                      })
                            .value());
    all.back().first = sum / static_cast<double>(std::max<size_t>(all.back().second.tokens.size(), 1));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  request.choices = 2;
  request.params.best_of = 6;
  Listener listener(2);
  ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
  listener.wait();
  for (size_t c : {0, 1}) expect_same(listener.told(c), all[c].second, fmt::to_string(c));
  request.params.best_of = 1;
  EXPECT_THAT(company.executor->enqueue(request, {}).status().message(), HasSubstr("best_of is 1"));
}

// The same search with every beam computed anew in each step, on a model of its own.
std::vector<sample::Hypothesis> search_alone(LanguageModel& model, const Request& request) {
  const std::vector<int32_t>& end_tokens = model.tokenizer().spec().end_of_generation;
  sample::BeamSearch search(request.params, end_tokens);
  while (!search.is_done()) {
    std::vector<std::vector<sample::TokenLogprob>> continuations(search.beams());
    for (size_t beam = 0; beam < search.beams(); ++beam) {
      std::vector<int32_t> text = request.prompt;
      text.insert(text.end(), search.tokens(beam).begin(), search.tokens(beam).end());
      std::vector<int32_t> positions(text.size());
      std::iota(positions.begin(), positions.end(), 0);
      const std::vector<int32_t> sequences(text.size(), 0);
      const auto last = static_cast<int32_t>(text.size() - 1);
      EXPECT_TRUE(model.step({text, positions, sequences, {&last, 1}}).is_ok());
      sample::Sampler sampler = sample::Sampler::make(request.params, end_tokens).value();
      sampler.set_step(search.tokens(beam).size());
      EXPECT_TRUE(sampler.continuations(model.logits(0), text, {}, search.continuations_wanted(), &continuations[beam])
                      .is_ok());
    }
    search.advance(continuations);
  }
  return search.results();
}

TEST(Executor, beam_searches_find_in_company_what_they_find_alone) {
  Company company({.max_sequences = 8, .cache_tokens = 640});
  std::mt19937 random(18);
  std::vector<Asked> asked(8);
  for (Asked& a : asked) {
    a.request.prompt = some_tokens(random, 3 + random() % 40);
    a.request.params.max_tokens = 4 + static_cast<int32_t>(random() % 16);
    const bool is_search = &a == &asked[0] || random() % 3 != 0;
    if (is_search) {
      a.request.params.beam_width = 2 + static_cast<int32_t>(random() % 3);
      a.request.choices = 1 + static_cast<int32_t>(random() % 2);
    }
    a.listener = std::make_unique<Listener>(a.request.choices);
    ASSERT_TRUE(company.executor->enqueue(a.request, a.listener->callback()).is_ok());
  }
  for (Asked& a : asked) {
    a.listener->wait();
    if (!a.request.params.is_beam_search()) {
      expect_same(a.listener->told(), alone(*company.single.model, a.request), "beside beams");
      continue;
    }
    const std::vector<sample::Hypothesis> want = search_alone(*company.single.model, a.request);
    for (size_t c = 0; c < static_cast<size_t>(a.request.choices); ++c) {
      EXPECT_TRUE(a.listener->told(c).last.status.is_ok()) << a.listener->told(c).last.status.message();
      EXPECT_EQ(a.listener->told(c).tokens, want[c].tokens);
      EXPECT_EQ(a.listener->told(c).last.finish_reason, want[c].ended ? FinishReason::kStop : FinishReason::kLength);
    }
  }
  EXPECT_EQ(company.executor->stats().pages_used, 0);
  Request wide{.prompt = {30}, .params = {.beam_width = 9}};
  EXPECT_THAT(company.executor->enqueue(wide, {}).status().message(), HasSubstr("9 beams"));
}

TEST(Executor, texts_that_end_the_answer_end_each_choice_for_itself) {
  Company company;
  std::mt19937 random(10);
  Request request{.prompt = some_tokens(random, 12), .params = {.max_tokens = 30}};
  const std::string text = alone(*company.single.model, request).text;
  ASSERT_GT(text.size(), 6U);
  request.params.stop = {text.substr(text.size() / 2, 2)};
  Listener listener;
  ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
  listener.wait();
  expect_same(listener.told(), alone(*company.single.model, request), "stopped");
  EXPECT_EQ(listener.told().last.finish_reason, FinishReason::kStop);
  EXPECT_EQ(listener.told().text.find(request.params.stop[0]), std::string::npos);
}

// What the model says of each of its prompt's tokens, one step a token.
std::vector<float> logprobs_of(LanguageModel& model, const std::vector<int32_t>& prompt) {
  std::vector<float> out;
  const int32_t zero = 0;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    const auto position = static_cast<int32_t>(i);
    EXPECT_TRUE(model.step({{&prompt[i], 1}, {&position, 1}, {&zero, 1}, {&zero, 1}}).is_ok());
    double sum = 0;
    const std::span<float> logits = model.logits(0);
    for (float x : logits) sum += std::exp(static_cast<double>(x));
    out.push_back(static_cast<float>(logits[static_cast<size_t>(prompt[i + 1])] - std::log(sum)));
  }
  return out;
}

TEST(Executor, log_probabilities_of_a_prompt_come_with_its_first_output_however_long_it_is) {
  Company company({.max_sequences = 2, .step_tokens = 100});
  std::mt19937 random(11);
  Request request{.prompt = some_tokens(random, 150), .params = {.logprobs = 3, .max_tokens = 2}};
  request.prompt_logprobs = true;
  const std::vector<float> want = logprobs_of(*company.single.model, request.prompt);
  for (int32_t max_tokens : {2, 0, 2}) {  // the last time the prompt is in the cache, but its logits are not
    request.params.max_tokens = max_tokens;
    Listener listener;
    ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
    listener.wait();
    const Told& told = listener.told();
    EXPECT_EQ(told.tokens.size(), static_cast<size_t>(max_tokens));
    EXPECT_EQ(told.last.finish_reason, FinishReason::kLength);
    ASSERT_EQ(told.prompt.size(), 149U);
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_EQ(told.prompt[i].token, request.prompt[i + 1]);
      EXPECT_NEAR(told.prompt[i].logprob, want[i], 1e-4F) << i;
      EXPECT_EQ(told.prompt[i].top.size(), 3U);
    }
  }
}

TEST(Executor, no_tokens_at_all_is_an_answer) {
  Company company;
  Listener listener(2);
  ASSERT_TRUE(
      company.executor->enqueue({.prompt = {40}, .params = {.max_tokens = 0}, .choices = 2}, listener.callback())
          .is_ok());
  listener.wait();
  for (size_t c : {0, 1}) {
    EXPECT_EQ(listener.told(c).last.finish_reason, FinishReason::kLength);
    EXPECT_TRUE(listener.told(c).tokens.empty());
  }
}

TEST(Executor, what_makes_no_sense_is_refused_with_a_sentence_and_disturbs_nobody) {
  Company company({.max_sequences = 2});
  const auto refusal = [&](Request request) {
    return company.executor->enqueue(std::move(request), [](Output&&) { ADD_FAILURE() << "called back"; }).status();
  };
  std::mt19937 random(12);
  Listener listener;
  const Request good{.prompt = some_tokens(random, 10), .params = {.max_tokens = 30}};
  ASSERT_TRUE(company.executor->enqueue(good, listener.callback()).is_ok());
  EXPECT_THAT(refusal({}).message(), HasSubstr("the prompt is empty"));
  EXPECT_THAT(refusal({.prompt = {1, 99999}}).message(), HasSubstr("token 99999"));
  EXPECT_THAT(refusal({.prompt = std::vector<int32_t>(1000, 30)}).message(), HasSubstr("1000 tokens"));
  EXPECT_THAT(refusal({.prompt = {30}, .params = {.temperature = -1.0F}}).message(), HasSubstr("temperature"));
  EXPECT_THAT(refusal({.prompt = {30}, .choices = 3}).message(), HasSubstr("3 choices"));
  EXPECT_THAT(refusal({.prompt = {30}, .choices = 0}).message(), HasSubstr("0 choices"));
  EXPECT_THAT(refusal({.prompt = {30}, .timeout_us = -1}).message(), HasSubstr("timeout"));
  EXPECT_EQ(refusal({.prompt = {30}, .adapter = "x"}).code(), StatusCode::kNotFound);
  listener.wait();
  expect_same(listener.told(), alone(*company.single.model, good), "the good one");
}

TEST(Executor, a_request_that_fails_alone_ends_with_a_sentence_and_the_others_go_on) {
  Company company({.max_sequences = 4});
  std::mt19937 random(13);
  Request good{.prompt = some_tokens(random, 10), .params = {.max_tokens = 30}};
  Request bad = good;  // bans every token there is
  for (int32_t t = 0; t < company.served.model->vocab(); ++t)
    bad.params.logit_bias[t] = -std::numeric_limits<float>::infinity();
  Listener first, failing, last;
  ASSERT_TRUE(company.executor->enqueue(good, first.callback()).is_ok());
  ASSERT_TRUE(company.executor->enqueue(bad, failing.callback()).is_ok());
  ASSERT_TRUE(company.executor->enqueue(good, last.callback()).is_ok());
  for (Listener* listener : {&first, &failing, &last}) listener->wait();
  EXPECT_FALSE(failing.told().last.status.is_ok());
  EXPECT_FALSE(failing.told().last.status.message().empty());
  expect_same(first.told(), alone(*company.single.model, good), "before");
  expect_same(last.told(), alone(*company.single.model, good), "after");
  EXPECT_EQ(company.executor->stats().requests_failed, 1);
  EXPECT_EQ(company.executor->stats().pages_used, 0);
}

TEST(Executor, more_than_may_wait_are_refused) {
  Company company({.max_sequences = 1, .max_queue = 2});
  const Request request{.prompt = {30, 31}, .params = {.max_tokens = 200, .ignore_eos = 1}};
  Listener listeners[3];
  listeners[0].hold();
  std::vector<RequestId> ids;
  for (Listener& listener : listeners) ids.push_back(company.executor->enqueue(request, listener.callback()).value());
  const Result<RequestId> refused = company.executor->enqueue(request, {});
  EXPECT_EQ(refused.status().code(), StatusCode::kExhausted);
  EXPECT_EQ(company.executor->stats().requests_refused, 1);
  for (RequestId id : ids) company.executor->cancel(id);
  listeners[0].release();
  for (Listener& listener : listeners) listener.wait();
}

TEST(Executor, draining_lets_what_is_at_hand_end_and_takes_nothing_more) {
  Company company;
  std::mt19937 random(14);
  const Request request{.prompt = some_tokens(random, 10), .params = {.max_tokens = 30}};
  Listener listener;
  ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
  EXPECT_TRUE(company.executor->drain(60'000'000).is_ok());
  listener.wait();
  expect_same(listener.told(), alone(*company.single.model, request), "drained");
  EXPECT_EQ(company.executor->enqueue(request, {}).status().code(), StatusCode::kUnavailable);
}

TEST(Executor, an_executor_that_goes_ends_what_is_left) {
  Listener running, waiting;
  {
    Company company({.max_sequences = 1});
    const Request request{.prompt = {30, 31}, .params = {.max_tokens = 240, .ignore_eos = 1}};
    ASSERT_TRUE(company.executor->enqueue(request, running.callback()).is_ok());
    ASSERT_TRUE(company.executor->enqueue(request, waiting.callback()).is_ok());
  }
  for (Listener* listener : {&running, &waiting}) {
    listener->wait();
    EXPECT_TRUE(listener->told().last.is_last);
    EXPECT_TRUE(listener->told().last.status.is_ok());
  }
}

TEST(Executor, guesses_at_what_comes_change_the_time_and_never_the_tokens) {
  Company company({.max_sequences = 4});
  std::mt19937 random(15);
  std::vector<Asked> asked(12);
  for (Asked& a : asked) {
    const std::vector<int32_t> part = some_tokens(random, 6);
    for (int i = 0; i < 5; ++i) a.request.prompt.insert(a.request.prompt.end(), part.begin(), part.end());
    a.request.params = some_params(random);
    a.request.params.max_tokens = 60;
    a.request.params.draft_tokens = 1 + static_cast<int32_t>(random() % 8);
    a.listener = std::make_unique<Listener>();
    ASSERT_TRUE(company.executor->enqueue(a.request, a.listener->callback()).is_ok());
  }
  for (Asked& a : asked) {
    a.listener->wait();
    expect_same(a.listener->told(), alone(*company.single.model, a.request), "guessed");
  }
  EXPECT_EQ(company.executor->stats().pages_used, 0);
}

// With one thread of two CPUs and more, masks are made beside the model; with as many as there are CPUs, after it.
class GuidedExecutor : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, GuidedExecutor, ::testing::Values(1, 64));

TEST_P(GuidedExecutor, answers_that_a_grammar_holds_to_a_form_keep_to_it_in_company) {
  if (!sample::has_grammars()) GTEST_SKIP() << "this build knows no grammars";
  Company company({.max_sequences = 6, .cache_tokens = 256}, std::min(GetParam(), usable_cpus()));
  std::mt19937 random(17);
  std::vector<Asked> asked(12);
  for (Asked& a : asked) {
    a.request.prompt = some_tokens(random, 5 + random() % 40);
    a.request.params = some_params(random);
    a.request.params.max_tokens = 60;
    a.request.params.draft_tokens = static_cast<int32_t>(random() % 4);
    a.request.choices = 1 + static_cast<int32_t>(random() % 2);
    const bool is_free = random() % 4 == 0;
    if (!is_free) a.request.params.grammar = {sample::GrammarKind::kRegex, "(ab|c){3}-[0-9]{2,5}"};
    a.listener = std::make_unique<Listener>(a.request.choices);
    ASSERT_TRUE(company.executor->enqueue(a.request, a.listener->callback()).is_ok());
  }
  for (Asked& a : asked) {
    a.listener->wait();
    for (int32_t c = 0; c < a.request.choices; ++c) {
      const Told& told = a.listener->told(static_cast<size_t>(c));
      expect_same(told, alone(*company.single.model, a.request, c), "guided");
      if (!a.request.params.grammar.is_none()) {
        EXPECT_THAT(told.text, MatchesRegex("(ab|c)(ab|c)(ab|c)-[0-9]+"));
      }
    }
  }
  Request bad{.prompt = {30}};
  bad.params.grammar = {sample::GrammarKind::kRegex, "(((("};
  EXPECT_EQ(company.executor->enqueue(bad, {}).status().code(), StatusCode::kInvalidArgument);
}

TEST(Executor, a_model_that_was_loaded_for_less_is_refused) {
  TinyModel tiny(kName, {.max_sequences = 2, .step_tokens = 16});
  EXPECT_THAT(Executor::start(*tiny.model, {.max_sequences = 4}).status().message(), HasSubstr("2 sequences"));
  EXPECT_THAT(Executor::start(*tiny.model, {.max_sequences = 2, .step_tokens = 17}).status().message(),
              HasSubstr("steps of 16"));
  EXPECT_THAT(Executor::start(*tiny.model, {.max_sequences = 0}).status().message(), HasSubstr("max_sequences is 0"));
}

}  // namespace
}  // namespace nereid::llm
