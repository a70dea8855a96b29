// SPDX-License-Identifier: Apache-2.0
// What an executor tells of its steps: figures, a trace, and that nobody waits for himself.
#include <gmock/gmock.h>

#include <numeric>

#include "base/file.h"
#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::alone;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::Listener;
using testing::TinyModel;

constexpr const char* kName = "tiny-qwen3";

std::vector<int32_t> tokens_from(int32_t first, size_t count) {
  std::vector<int32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

TEST(ExecutorWatch, each_step_is_told_once) {
  std::vector<IterationStats> heard;
  ExecutorOptions options{.max_sequences = 4, .step_tokens = 32};
  options.on_iteration = [&](const IterationStats& step) { heard.push_back(step); };
  TinyModel served(kName, load_options(options));
  auto executor = Executor::start(*served.model, options).value();
  const Request request{.prompt = tokens_from(40, 50), .params = {.max_tokens = 5, .ignore_eos = 1}};
  Listener listener;
  ASSERT_TRUE(executor->enqueue(request, listener.callback()).is_ok());
  listener.wait();
  ASSERT_TRUE(executor->drain(60'000'000).is_ok());
  std::vector<IterationStats> taken = executor->take_iterations();
  EXPECT_TRUE(executor->take_iterations().empty());
  executor.reset();
  // 50 tokens of a prompt are two steps of 32, then four more tokens are one each.
  ASSERT_EQ(taken.size(), 6u);
  ASSERT_EQ(heard.size(), 6u);
  EXPECT_EQ(taken[0].prompt_tokens, 32);
  EXPECT_EQ(taken[0].requests_started, 1);
  EXPECT_EQ(taken[1].prompt_tokens, 18);
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i].iteration, static_cast<int64_t>(i) + 1);
    EXPECT_EQ(heard[i].iteration, taken[i].iteration);
    EXPECT_GE(taken[i].latency_us, taken[i].model_us);
    EXPECT_EQ(taken[i].prompt_sequences, i < 2 ? 1 : 0);
    EXPECT_EQ(taken[i].answer_tokens, i < 2 ? 0 : 1);
    EXPECT_EQ(taken[i].requests_ended, i == 5 ? 1 : 0);
    EXPECT_EQ(taken[i].requests_running, i == 5 ? 0 : 1);
    EXPECT_GT(taken[i].pages, 0);
  }
  EXPECT_EQ(taken[5].pages_used, 0);
}

TEST(ExecutorWatch, guesses_and_what_was_found_in_the_cache_are_counted) {
  const ExecutorOptions options{.max_sequences = 2};
  TinyModel served(kName, load_options(options));
  auto executor = Executor::start(*served.model, options).value();
  Request request{.prompt = tokens_from(40, 50), .params = {.max_tokens = 30, .ignore_eos = 1, .draft_tokens = 4}};
  int64_t reused = 0, drafts = 0, accepted = 0, answers = 0;
  for (int round = 0; round < 2; ++round) {
    Listener listener;
    ASSERT_TRUE(executor->enqueue(request, listener.callback()).is_ok());
    listener.wait();
    EXPECT_EQ(listener.told().last.reused_tokens > 0, round == 1);
    reused += listener.told().last.reused_tokens;
    answers += listener.told().last.answer_tokens;
  }
  ASSERT_TRUE(executor->drain(60'000'000).is_ok());
  for (const IterationStats& step : executor->take_iterations()) {
    reused -= step.reused_tokens;
    drafts += step.draft_tokens;
    accepted += step.accepted_tokens;
    // One token for each answer that goes on or begins, and the guesses that were right.
    answers -= step.accepted_tokens + step.answer_sequences;
  }
  EXPECT_EQ(reused, 0);
  EXPECT_GT(drafts, 0);
  EXPECT_LE(accepted, drafts);
  EXPECT_EQ(answers, 2);  // the first token of each comes of its prompt
}

TEST(ExecutorWatch, a_trace_is_written_when_it_ends) {
  TestDir folder;
  ExecutorOptions options{.max_sequences = 2};
  options.trace_path = folder.path() + "/trace.json";
  TinyModel served(kName, load_options(options));
  {
    auto executor = Executor::start(*served.model, options).value();
    Listener listener;
    ASSERT_TRUE(executor->enqueue({.prompt = {30, 31}, .params = {.max_tokens = 3}}, listener.callback()).is_ok());
    listener.wait();
  }
  const Json trace = parse_json(read_file(options.trace_path, 1 << 20).value()).value();
  int answers = 0;
  for (const Json& event : trace["traceEvents"]) answers += event.value("cat", "") == "request" ? 1 : 0;
  EXPECT_GE(answers, 2);  // its prompt and its answer
}

TEST(ExecutorWatch, either_policy_gives_the_same_answers_and_one_never_pauses) {
  TinyModel single(kName);
  for (const SchedulePolicy policy : {SchedulePolicy::kMaxUtilization, SchedulePolicy::kGuaranteedNoEvict}) {
    // Pages for two of these at their full length.
    const ExecutorOptions options{.max_sequences = 6, .cache_tokens = 256, .policy = policy};
    TinyModel served(kName, load_options(options));
    auto executor = Executor::start(*served.model, options).value();
    std::vector<Request> requests;
    std::vector<Listener> listeners(6);
    for (int32_t i = 0; i < 6; ++i) {
      requests.push_back({.prompt = tokens_from(30 + i, 20), .params = {.max_tokens = 80, .ignore_eos = 1}});
      ASSERT_TRUE(executor->enqueue(requests.back(), listeners[static_cast<size_t>(i)].callback()).is_ok());
    }
    for (size_t i = 0; i < 6; ++i) {
      listeners[i].wait();
      expect_same(listeners[i].told(), alone(*single.model, requests[i]), "policy");
    }
    const bool pauses = policy == SchedulePolicy::kMaxUtilization;
    EXPECT_EQ(executor->stats().preemptions > 0, pauses);
  }
}

TEST(ExecutorWatch, an_output_function_that_would_wait_for_itself_is_told_so) {
  const ExecutorOptions options{.max_sequences = 1};
  TinyModel served(kName, load_options(options));
  auto executor = Executor::start(*served.model, options).value();
  Status drained;
  Listener listener;
  const auto hear = [&, tell = listener.callback()](Output&& output) {
    if (output.is_last) drained = executor->drain(0);
    tell(std::move(output));
  };
  ASSERT_TRUE(executor->enqueue({.prompt = {30, 31}, .params = {.max_tokens = 3}}, hear).is_ok());
  listener.wait();
  EXPECT_EQ(drained.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(drained.message(), HasSubstr("wait for itself"));
  // And nothing was stopped by it.
  Listener another;
  EXPECT_TRUE(executor->enqueue({.prompt = {30, 31}, .params = {.max_tokens = 1}}, another.callback()).is_ok());
  another.wait();
}

}  // namespace
}  // namespace nereid::llm
