// SPDX-License-Identifier: Apache-2.0
// Every feature of a request with every other, adapters among them: all pairs in one batch, where pages are few,
// against the same request alone in an executor that keeps nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "llm/run/test_executor.h"
#include "llm/run/tiny_adapter.h"

namespace nereid::llm {
namespace {

using testing::kTinyAdapters;
using testing::Listener;
using testing::tiny_adapter_path;
using testing::TinyModel;
using testing::Told;

constexpr const char* kName = "tiny-qwen3";

struct Feature {
  const char* name;
  void (*set)(Request&);
};

std::vector<int32_t> tokens_of(uint32_t seed, size_t n) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(n);
  for (int32_t& t : tokens) t = static_cast<int32_t>(random() % 200) + 20;
  return tokens;
}

constexpr Feature kFeatures[] = {
    {"plain", [](Request&) {}},
    {"temperature", [](Request& r) { r.params.temperature = 0.9F, r.params.seed = 7; }},
    {"filters", [](Request& r) { r.params.temperature = 1, r.params.top_k = 30, r.params.top_p = 0.9F; }},
    {"mirostat", [](Request& r) { r.params.temperature = 1, r.params.mirostat = 2; }},
    {"penalties", [](Request& r) { r.params.repetition_penalty = 1.3F, r.params.frequency_penalty = 0.4F; }},
    {"dry", [](Request& r) { r.params.dry_multiplier = 1, r.params.dry_allowed_length = 1; }},
    {"logit_bias",
     [](Request& r) {
       r.params.logit_bias = {{60, 3.0F}, {70, -4.0F}};
     }},
    {"bad_words",
     [](Request& r) {
       r.params.bad_words = {"e", "the"};
     }},
    {"min_tokens", [](Request& r) { r.params.min_tokens = 6; }},
    {"stop",
     [](Request& r) {
       r.params.stop = {"a", "q"};
     }},
    {"logprobs", [](Request& r) { r.params.logprobs = 3; }},
    {"prompt_logprobs", [](Request& r) { r.prompt_logprobs = true, r.params.logprobs = 1; }},
    {"choices", [](Request& r) { r.choices = 3; }},
    {"best_of", [](Request& r) { r.params.best_of = 4, r.params.temperature = 1; }},
    {"beams", [](Request& r) { r.params.beam_width = 3; }},
    {"guesses", [](Request& r) { r.params.draft_tokens = 3, r.params.draft_ngram = 1; }},
    {"regex",
     [](Request& r) {
       r.params.grammar = {sample::GrammarKind::kRegex, "[a-f0-9]+(xy)*"};
     }},
    {"json",
     [](Request& r) {
       r.params.grammar = {sample::GrammarKind::kJson, ""};
     }},
    {"one token", [](Request& r) { r.params.max_tokens = 1; }},
    {"long prompt", [](Request& r) { r.prompt = tokens_of(99, 90); }},
    {"another prompt", [](Request& r) { r.prompt = tokens_of(5, 11); }},
    {"priority", [](Request& r) { r.priority = 5; }},
    {"user", [](Request& r) { r.user = "somebody"; }},
    {"timeout", [](Request& r) { r.timeout_us = int64_t{600} * 1'000'000; }},
    {"adapter plain", [](Request& r) { r.adapter = "plain"; }},
    {"adapter all", [](Request& r) { r.adapter = "all"; }},
    {"adapter mlp", [](Request& r) { r.adapter = "mlp"; }},
};

Request with(const Feature& a, const Feature& b) {
  Request r{.prompt = tokens_of(1, 20), .params = {.max_tokens = 9}};
  a.set(r);
  b.set(r);
  return r;
}

struct Served {
  explicit Served(const ExecutorOptions& options, int threads)
      : tiny(kName, load_options(options), threads), executor(Executor::start(*tiny.model, options).value()) {
    for (const char* adapter : kTinyAdapters)
      EXPECT_TRUE(executor->load_adapter(adapter, {{tiny_adapter_path(kName, adapter)}}).is_ok());
  }
  TinyModel tiny;
  std::unique_ptr<Executor> executor;
};

bool same(const std::vector<sample::SampleResult>& a, const std::vector<sample::SampleResult>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    const auto same_candidate = [](const sample::TokenLogprob& c, const sample::TokenLogprob& d) {
      return c.token == d.token && c.logprob == d.logprob;
    };
    return x.token == y.token && x.logprob == y.logprob &&
           std::equal(x.top.begin(), x.top.end(), y.top.begin(), y.top.end(), same_candidate);
  });
}

void expect_equal(const Told& got, const Told& want, const std::string& what) {
  EXPECT_EQ(got.tokens, want.tokens) << what;
  EXPECT_EQ(got.text, want.text) << what;
  EXPECT_EQ(got.last.finish_reason, want.last.finish_reason) << what;
  EXPECT_EQ(got.last.status.message(), want.last.status.message()) << what;
  EXPECT_TRUE(same(got.samples, want.samples)) << what << ": log-probabilities differ";
  EXPECT_TRUE(same(got.prompt, want.prompt)) << what << ": the prompt's log-probabilities differ";
}

struct Asked {
  std::string what;
  Request request;
  std::unique_ptr<Listener> listener;
  Status taken;
};

Asked ask(Executor& executor, const Feature& a, const Feature& b) {
  Asked asked{fmt::format("{} and {}", a.name, b.name), with(a, b), nullptr, {}};
  asked.listener = std::make_unique<Listener>(asked.request.choices);
  asked.taken = executor.enqueue(asked.request, asked.listener->callback()).status();
  return asked;
}

TEST(RequestPairs, every_pair_of_features_gives_in_one_batch_what_it_gives_alone) {
  Served batch({.max_sequences = 12, .step_tokens = 40, .cache_tokens = 400}, 2);
  Served alone({.max_sequences = 4, .step_tokens = 512, .reuse_prefixes = false}, 1);
  std::vector<Asked> asked;
  for (const Feature& a : kFeatures)
    for (const Feature& b : kFeatures) asked.push_back(ask(*batch.executor, a, b));
  size_t i = 0;
  for (const Feature& a : kFeatures)
    for (const Feature& b : kFeatures) {
      Asked& in_company = asked[i++];
      const Asked single = ask(*alone.executor, a, b);
      ASSERT_EQ(in_company.taken.message(), single.taken.message()) << in_company.what;
      if (!single.taken.is_ok()) continue;
      single.listener->wait();
      in_company.listener->wait();
      for (int32_t c = 0; c < single.request.choices; ++c)
        expect_equal(in_company.listener->told(static_cast<size_t>(c)), single.listener->told(static_cast<size_t>(c)),
                     fmt::format("{}, choice {}", in_company.what, c));
    }
  const ExecutorStats stats = batch.executor->stats();
  EXPECT_GT(stats.preemptions, 0) << "pages were not few enough to pause anybody";
  EXPECT_GT(stats.reused_tokens, 0);
  EXPECT_EQ(stats.pages_used, 0) << "pages were leaked";
}

}  // namespace
}  // namespace nereid::llm
