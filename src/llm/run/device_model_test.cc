// SPDX-License-Identifier: Apache-2.0
// Language models on a device: what transformers says, alone and in company, and faults that end requests and not the
// process. On a fake driver with the kernels as plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "device/cuda/fake_driver.h"
#include "llm/run/generate.h"
#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"
#include "runtime/device/device_accelerator.h"
#include "runtime/device/test_kernels.h"

namespace nereid::llm {
namespace {

using testing::Expected;
using ::testing::HasSubstr;
using testing::Listener;
using testing::tiny_expected;
using testing::TinyModel;

struct DeviceModel {
  explicit DeviceModel(const std::string& name, LoadOptions options = {}, const runtime::AcceleratorOptions& how = {}) {
    options.accelerator = runtime::make_accelerator(device::open_cuda_device(driver.table(), 0).value(),
                                                    runtime::testing::test_kernels(), how);
    tiny = std::make_unique<TinyModel>(name, options);
  }
  LanguageModel& model() { return *tiny->model; }
  device::FakeDriver driver{&runtime::testing::test_kernels()};
  std::unique_ptr<TinyModel> tiny;
};

// Greedy tokens, each with the others' tokens before it, so that one tie does not hide the rest.
void expect_continues(LanguageModel& m, const Expected& e, const std::string& what) {
  std::vector<int32_t> tokens = e.prompt_tokens;
  std::vector<int32_t> positions, sequences;
  int32_t first = 0;
  for (size_t i = 0; i < e.greedy_tokens.size(); ++i) {
    const auto step = std::span(tokens).subspan(static_cast<size_t>(first));
    positions.clear();
    for (size_t t = 0; t < step.size(); ++t) positions.push_back(first + static_cast<int32_t>(t));
    sequences.assign(step.size(), 0);
    const auto last = static_cast<int32_t>(step.size()) - 1;
    const Status s = m.step({step, positions, sequences, {&last, 1}});
    ASSERT_TRUE(s.is_ok()) << what << ": " << s.message();
    const auto logits = m.logits(0);
    const auto best = std::max_element(logits.begin(), logits.end());
    // Random weights: the two best lie close now and then, and f16 may order them otherwise.
    ASSERT_GE(logits[static_cast<size_t>(e.greedy_tokens[i])], *best - 0.02F * std::abs(*best))
        << what << " token " << i;
    first = static_cast<int32_t>(tokens.size());
    tokens.push_back(e.greedy_tokens[i]);
  }
}

TEST(DeviceModel, continues_as_transformers_does) {
  for (const char* name : {"tiny-llama", "tiny-qwen2", "tiny-qwen3", "tiny-gemma3"}) {
    DeviceModel m(name);
    expect_continues(m.model(), tiny_expected(name), name);
  }
}

TEST(DeviceModel, requests_in_company_get_what_they_get_alone) {
  const ExecutorOptions options{.max_sequences = 4};
  DeviceModel m("tiny-qwen3", load_options(options));
  const std::unique_ptr<Executor> executor = Executor::start(m.model(), options).value();
  const auto ask = [&](int32_t i, Listener& listener) {
    Request request{.prompt = {20 + i, 40 + i, 33}, .params = {}};
    request.params.max_tokens = 12;
    EXPECT_TRUE(executor->enqueue(std::move(request), listener.callback()).is_ok());
  };
  std::vector<std::vector<int32_t>> single;
  for (int32_t i = 0; i < 4; ++i) {
    Listener listener;
    ask(i, listener);
    listener.wait();
    EXPECT_TRUE(listener.told().last.status.is_ok()) << listener.told().last.status.message();
    single.push_back(listener.told().tokens);
  }
  Listener together[4];
  for (int32_t i = 0; i < 4; ++i) ask(i, together[i]);
  for (int32_t i = 0; i < 4; ++i) {
    together[i].wait();
    EXPECT_EQ(together[i].told().tokens, single[static_cast<size_t>(i)]) << i;
  }
}

TEST(DeviceModel, memory_that_runs_out_in_a_request_fails_it_and_the_next_is_answered) {
  const ExecutorOptions options{.max_sequences = 2};
  DeviceModel m("tiny-llama", load_options(options));
  const std::unique_ptr<Executor> executor = Executor::start(m.model(), options).value();
  m.driver.faults.fail_allocate_in = 1;
  for (const bool fails : {true, false}) {
    Listener listener;
    Request request{.prompt = {30, 31, 32}, .params = {}};
    request.params.max_tokens = 4;
    ASSERT_TRUE(executor->enqueue(std::move(request), listener.callback()).is_ok());
    listener.wait();
    EXPECT_EQ(listener.told().last.status.is_ok(), !fails) << listener.told().last.status.message();
    if (fails) {
      EXPECT_EQ(listener.told().last.status.code(), StatusCode::kExhausted);
    }
  }
}

TEST(DeviceModel, a_lost_gpu_ends_requests_with_a_sentence) {
  const ExecutorOptions options{.max_sequences = 2};
  DeviceModel m("tiny-llama", load_options(options));
  const std::unique_ptr<Executor> executor = Executor::start(m.model(), options).value();
  m.driver.faults.fail_synchronize_in = 3;
  m.driver.faults.code = 999;
  Listener listener;
  Request request{.prompt = {30, 31, 32}, .params = {}};
  request.params.max_tokens = 50;
  ASSERT_TRUE(executor->enqueue(std::move(request), listener.callback()).is_ok());
  listener.wait();
  EXPECT_EQ(listener.told().last.status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(listener.told().last.status.message(), HasSubstr("start anew"));
}

// What the CPU's sampler draws from the same model's logits, token by token.
std::vector<int32_t> drawn_on_the_host(LanguageModel& m, std::span<const int32_t> prompt,
                                       const sample::SamplingParams& params) {
  Generator generator(m);
  const Result<Generated> answer = generator.generate(prompt, params);
  EXPECT_TRUE(answer.is_ok()) << answer.status().message();
  return answer.is_ok() ? answer->tokens : std::vector<int32_t>();
}

TEST(DeviceModel, answers_drawn_on_the_device_are_the_samplers) {
  const std::vector<int32_t> prompt = {30, 31, 32};
  std::vector<sample::SamplingParams> all(6);
  all[1].temperature = 0.9F;
  all[2].temperature = 1.2F, all[2].top_k = 30, all[2].top_p = 0.9F, all[2].logprobs = 3;
  all[3].temperature = 0.8F, all[3].frequency_penalty = 1, all[3].repetition_penalty = 1.3F;
  all[4].temperature = 1, all[4].grammar = {.kind = sample::GrammarKind::kRegex, .text = "[a-z ]+"};
  all[5].temperature = 1, all[5].mirostat = 2;  // by the logits
  std::vector<std::vector<int32_t>> wanted;
  {
    DeviceModel host("tiny-llama");  // one fake driver at a time
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].seed = 40 + i;
      all[i].max_tokens = 16;
      wanted.push_back(drawn_on_the_host(host.model(), prompt, all[i]));
    }
  }
  const ExecutorOptions options{.max_sequences = 4};
  DeviceModel m("tiny-llama", load_options(options));
  ASSERT_TRUE(m.model().can_draw());
  const std::unique_ptr<Executor> executor = Executor::start(m.model(), options).value();
  std::vector<std::unique_ptr<Listener>> listeners;
  for (size_t i = 0; i < all.size(); ++i) {
    listeners.push_back(std::make_unique<Listener>());
    ASSERT_TRUE(executor->enqueue({.prompt = prompt, .params = all[i]}, listeners.back()->callback()).is_ok());
  }
  for (size_t i = 0; i < all.size(); ++i) {
    listeners[i]->wait();
    const testing::Told& told = listeners[i]->told();
    EXPECT_TRUE(told.last.status.is_ok()) << told.last.status.message();
    EXPECT_EQ(told.tokens, wanted[i]) << "request " << i;
    for (const sample::SampleResult& s : told.samples) EXPECT_EQ(s.top.size(), i == 2 ? 3 : 0);
  }
}

TEST(DeviceModel, weights_in_fp8_say_nearly_the_same) {
  const auto logits_of = [](bool as_f8) {
    DeviceModel m("tiny-llama", {}, {.floats_as_f8 = as_f8});
    const std::vector<int32_t> tokens = {30, 31, 32, 33}, positions = {0, 1, 2, 3}, sequences(4, 0), rows = {3};
    EXPECT_TRUE(m.model().step({tokens, positions, sequences, rows}).is_ok());
    const auto logits = m.model().logits(0);
    return std::vector<float>(logits.begin(), logits.end());
  };
  const std::vector<float> a = logits_of(false), b = logits_of(true);
  EXPECT_NE(a, b);
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) difference += (a[i] - b[i]) * (a[i] - b[i]), size += a[i] * a[i];
  EXPECT_LT(difference, 0.01 * size);  // 3 bits a weight: some percent each, which averages out
}

TEST(DeviceModel, adapters_are_refused) {
  DeviceModel m("tiny-llama");
  const Status refused = m.model().open_adapter({}).status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), HasSubstr("CPU alone"));
}

}  // namespace
}  // namespace nereid::llm
