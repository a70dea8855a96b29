// SPDX-License-Identifier: Apache-2.0
// Answers with a draft model beside: the same tokens as without, in fewer steps.
#include <gmock/gmock.h>

#include "llm/run/draft_model.h"
#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::alone;
using testing::expect_same;
using testing::Listener;
using testing::tiny_expected;
using testing::TinyModel;

constexpr const char* kName = "tiny-llama";

std::vector<int32_t> prompt_of(int32_t i) {
  std::vector<int32_t> prompt;
  for (int32_t t = 0; t < 5 + 6 * (i % 5); ++t) prompt.push_back((5 * t * t + 17 * i + 40) % 250);
  return prompt;
}

// Greedy and drawn, with penalties, several choices, log-probabilities.
Request request_of(int32_t i) {
  Request request{.prompt = prompt_of(i), .params = {.max_tokens = 20 + i % 7, .ignore_eos = 1}};
  if (i % 3 != 0) {
    request.params.temperature = 0.9F;
    request.params.top_k = 30;
    request.params.seed = 100 + static_cast<uint64_t>(i);
  }
  if (i % 4 == 1) request.params.repetition_penalty = 1.2F;
  if (i % 5 == 2) request.params.logprobs = 2;
  if (i % 6 == 3) request.choices = 2;
  return request;
}

struct Served {
  Served(const std::string& draft_name, ExecutorOptions options)
      : draft(draft_name, DraftModel::load_options({.answers = 8, .step_tokens = 32})),
        model(kName, load_options(options)) {
    options.draft = draft.model.get();
    executor = Executor::start(*model.model, options).value();
  }
  TinyModel draft, model;
  std::unique_ptr<Executor> executor;
};

void expect_answers_as_alone(const std::string& draft, int32_t count) {
  TinyModel plain(kName);
  Served served(draft, {.max_sequences = 6, .step_tokens = 48});
  std::vector<std::unique_ptr<Listener>> listeners;
  for (int32_t i = 0; i < count; ++i) {
    listeners.push_back(std::make_unique<Listener>(request_of(i).choices));
    ASSERT_TRUE(served.executor->enqueue(request_of(i), listeners.back()->callback()).is_ok());
  }
  for (int32_t i = 0; i < count; ++i) {
    listeners[static_cast<size_t>(i)]->wait();
    for (int32_t choice = 0; choice < request_of(i).choices; ++choice)
      expect_same(listeners[static_cast<size_t>(i)]->told(static_cast<size_t>(choice)),
                  alone(*plain.model, request_of(i), choice), fmt::format("request {} of {}", i, draft));
  }
}

TEST(ExecutorDraft, answers_are_what_they_are_without_a_draft) {
  expect_answers_as_alone("tiny-qwen2", 24);  // hardly ever right
  expect_answers_as_alone(kName, 24);         // hardly ever wrong
}

// Steps of one request, and the guesses of them.
struct Counted {
  int64_t steps = 0, guessed = 0, accepted = 0;
};
Counted count(const std::string& draft, const Request& request) {
  Served served(draft, {.max_sequences = 2, .step_tokens = 48});
  Listener listener;
  EXPECT_TRUE(served.executor->enqueue(request, listener.callback()).is_ok());
  listener.wait();
  EXPECT_TRUE(served.executor->drain(10'000'000).is_ok());
  Counted counted;
  for (const IterationStats& step : served.executor->take_iterations()) {
    ++counted.steps;
    counted.guessed += step.draft_tokens;
    counted.accepted += step.accepted_tokens;
  }
  return counted;
}

TEST(ExecutorDraft, the_model_as_its_own_draft_is_always_right) {
  for (const float temperature : {0.0F, 0.8F}) {
    Request request{.prompt = prompt_of(3), .params = {.temperature = temperature, .max_tokens = 26, .ignore_eos = 1}};
    request.params.seed = 5;
    const Counted counted = count(kName, request);
    // The prompt's step gives the first token; every other one five, of which four were guessed.
    EXPECT_EQ(counted.steps, 6) << temperature;
    EXPECT_EQ(counted.accepted, counted.guessed) << temperature;
    EXPECT_EQ(counted.accepted, 20) << temperature;
  }
}

TEST(ExecutorDraft, a_draft_that_is_wrong_costs_guesses_and_no_tokens) {
  const Counted counted = count("tiny-qwen2", {.prompt = prompt_of(3), .params = {.max_tokens = 26, .ignore_eos = 1}});
  EXPECT_GT(counted.guessed, counted.accepted);
  EXPECT_EQ(counted.steps, 26 - counted.accepted);
}

TEST(ExecutorDraft, a_generator_gives_the_same_answers_with_a_draft) {
  for (const std::string draft_name : {"tiny-qwen2", kName}) {
    TinyModel plain(kName), model(kName, {.max_outputs = 5});
    TinyModel draft(draft_name, DraftModel::load_options({.answers = 1, .step_tokens = 32}));
    const auto drafts = DraftModel::make(*draft.model, *model.model, {.answers = 1}).value();
    Generator with(*model.model);
    with.set_draft(drafts.get(), 4);
    int64_t accepted = 0;
    for (int32_t i = 0; i < 12; ++i) {
      const Request request = request_of(i);
      const Generated want = alone(*plain.model, request);
      const Generated got = with.generate(request.prompt, request.params).value();
      EXPECT_EQ(got.tokens, want.tokens) << draft_name << " " << i;
      EXPECT_EQ(got.text, want.text);
      EXPECT_LE(got.accepted_tokens, got.guessed_tokens);
      accepted += got.accepted_tokens;
    }
    if (draft_name == kName) {
      EXPECT_GT(accepted, 150);
    }
  }
}

}  // namespace
}  // namespace nereid::llm
