// SPDX-License-Identifier: Apache-2.0
// An answer that fills its context goes on as the tokens that stay would be answered alone: the oracle is a prompt of
// these tokens on a model that has never seen the others.
#include "llm/schedule/context_shift.h"

#include <gtest/gtest.h>

#include <numeric>

#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::Listener;
using testing::tiny_expected;
using testing::TinyModel;

constexpr const char* kName = "tiny-qwen3";
constexpr int64_t kContext = 64;
constexpr int32_t kAnswer = 200;

struct Drawn {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;
};

sample::SamplingParams params_of(int32_t max_tokens) {
  return {.logprobs = 0, .max_tokens = max_tokens, .ignore_eos = 1};
}

Drawn generate(Generator& generator, std::span<const int32_t> prompt, int32_t max_tokens) {
  Drawn drawn;
  const auto result = generator.generate(prompt, params_of(max_tokens), [&](const Piece& piece) {
    if (piece.sample) drawn.logprobs.push_back(piece.sample->logprob);
    return true;
  });
  EXPECT_TRUE(result.is_ok()) << result.status().message();
  if (result.is_ok()) drawn.tokens = result->tokens;
  return drawn;
}

// Each stretch between two shifts is the answer to a prompt of its own.
Drawn recomputed(LanguageModel& model, std::vector<int32_t> tokens, int32_t keep) {
  Drawn all;
  while (std::ssize(all.tokens) < kAnswer) {
    Generator fresh(model);
    const Drawn part = generate(fresh, tokens, kAnswer - static_cast<int32_t>(all.tokens.size()));
    all.tokens.insert(all.tokens.end(), part.tokens.begin(), part.tokens.end());
    all.logprobs.insert(all.logprobs.end(), part.logprobs.begin(), part.logprobs.end());
    tokens.insert(tokens.end(), part.tokens.begin(), part.tokens.end());
    if (std::ssize(tokens) > kContext) schedule::shift_context(&tokens, keep);
  }
  return all;
}

TEST(ContextShift, keeps_the_first_tokens_and_the_newer_half_of_the_others) {
  std::vector<int32_t> tokens(21);
  std::iota(tokens.begin(), tokens.end(), 0);
  std::vector<int32_t> kept = tokens;
  schedule::shift_context(&kept, 3);
  EXPECT_EQ(kept, (std::vector<int32_t>{0, 1, 2, 12, 13, 14, 15, 16, 17, 18, 19, 20}));
  kept = tokens;
  schedule::shift_context(&kept, 1000);  // no more than half of all
  EXPECT_EQ(kept, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20}));
}

TEST(ContextShift, an_answer_past_the_context_is_that_of_the_tokens_that_stay) {
  const std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  TinyModel tiny(kName, {.context_tokens = kContext, .step_tokens = 16}, 2);
  TinyModel other(kName, {.context_tokens = kContext});
  for (int32_t keep : {0, 4, 31}) {
    Generator generator(*tiny.model);
    generator.shift_context(keep);
    const Drawn got = generate(generator, prompt, kAnswer);
    const Drawn want = recomputed(*other.model, prompt, keep);
    ASSERT_EQ(std::ssize(got.tokens), kAnswer);
    EXPECT_EQ(got.tokens, want.tokens) << keep;
    EXPECT_EQ(got.logprobs, want.logprobs) << keep;  // bit for bit
  }
}

TEST(ContextShift, the_executor_shifts_as_one_request_alone_does_whatever_the_company_and_the_guesses) {
  const std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  TinyModel other(kName, {.context_tokens = kContext});
  // Of 12 pages four answers cannot all keep two each for ever: some are paused and begin again.
  const ExecutorOptions options{.max_sequences = 6, .step_tokens = 32, .cache_tokens = 12 * 32, .shift_keep = 4};
  LoadOptions load = load_options(options);
  load.context_tokens = kContext;
  TinyModel tiny(kName, load, 2);
  const auto executor = Executor::start(*tiny.model, options).value();
  std::vector<std::unique_ptr<Listener>> listeners;
  std::vector<Drawn> want;
  for (int i = 0; i < 6; ++i) {
    std::vector<int32_t> own = prompt;
    own.push_back(30 + i);
    const int32_t keep = i < 3 ? 4 : i;
    want.push_back(recomputed(*other.model, own, keep));
    Request request{.prompt = own, .params = params_of(kAnswer), .shift_keep = i < 3 ? -1 : keep};
    request.params.draft_tokens = i % 2 ? 3 : 0;
    listeners.push_back(std::make_unique<Listener>());
    ASSERT_TRUE(executor->enqueue(std::move(request), listeners.back()->callback()).is_ok());
  }
  for (size_t i = 0; i < listeners.size(); ++i) {
    listeners[i]->wait();
    EXPECT_EQ(listeners[i]->told().tokens, want[i].tokens) << i;
    std::vector<float> logprobs;
    for (const sample::SampleResult& s : listeners[i]->told().samples) logprobs.push_back(s.logprob);
    EXPECT_EQ(logprobs, want[i].logprobs) << i;
  }
}

TEST(ContextShift, without_it_an_answer_ends_where_the_context_does) {
  const std::vector<int32_t> prompt = tiny_expected(kName).prompt_tokens;
  TinyModel tiny(kName, {.context_tokens = kContext});
  Generator generator(*tiny.model);
  EXPECT_EQ(std::ssize(generate(generator, prompt, kAnswer).tokens), kContext - std::ssize(prompt) + 1);
}

}  // namespace
}  // namespace nereid::llm
