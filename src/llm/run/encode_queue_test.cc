// SPDX-License-Identifier: Apache-2.0
#include "llm/run/encode_queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <latch>

#include "llm/run/test_encoder.h"

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;
using testing::TestEncoder;

// Waits for what a job gives.
struct Waiting {
  std::promise<EncodeOutput> promise;
  EncodeFn callback() {
    return [this](EncodeOutput&& output) { promise.set_value(std::move(output)); };
  }
  EncodeOutput get() { return promise.get_future().get(); }
};

// The queue's thread stands still in this job's callback until it is released.
struct Blocker {
  std::latch reached{1}, released{1};
  EncodeFn callback() {
    return [this](EncodeOutput&&) {
      reached.count_down();
      released.wait();
    };
  }
};

std::vector<EncodeInput> inputs(const std::vector<std::string>& texts) {
  std::vector<EncodeInput> out;
  for (const std::string& text : texts) out.push_back({.text = text});
  return out;
}

const std::vector<std::string> kTexts = {"the inn", "our hero in the house", "soup", "hours of heat", "", "a tune"};

TEST(EncodeQueue, jobs_of_many_callers_get_what_each_text_gives_alone) {
  TestEncoder tiny("bert-mean", {.step_tokens = 40, .step_texts = 3});
  std::vector<std::vector<float>> alone;
  for (const std::string& text : kTexts) {
    const EncodeTokens tokens = tiny.encoder->prepare({.text = text}).value();
    const std::vector<const EncodeTokens*> one = {&tokens};
    alone.push_back(tiny.encoder->run(one).value()[0]);
  }
  const auto queue = EncodeQueue::start(*tiny.encoder);
  constexpr int kCallers = 20;
  std::vector<Waiting> waiting(kCallers);
  for (int i = 0; i < kCallers; ++i) {
    std::vector<std::string> mine(kTexts.begin(), kTexts.begin() + 1 + i % static_cast<int>(kTexts.size()));
    ASSERT_TRUE(queue->submit(inputs(mine), waiting[static_cast<size_t>(i)].callback()).is_ok());
  }
  for (int i = 0; i < kCallers; ++i) {
    const EncodeOutput got = waiting[static_cast<size_t>(i)].get();
    ASSERT_TRUE(got.status.is_ok()) << got.status.message();
    for (size_t k = 0; k < got.vectors.size(); ++k) EXPECT_EQ(got.vectors[k], alone[k]);
    EXPECT_EQ(got.tokens[0], 4);
  }
  EXPECT_EQ(queue->stats().jobs_done, kCallers);
  EXPECT_EQ(queue->stats().texts_waiting, 0);
}

TEST(EncodeQueue, a_short_job_does_not_wait_for_a_long_one) {
  TestEncoder tiny("bert-mean", {.step_tokens = 40, .step_texts = 2});
  const auto queue = EncodeQueue::start(*tiny.encoder);
  Blocker first;
  ASSERT_TRUE(queue->submit(inputs({"soup"}), first.callback()).is_ok());
  first.reached.wait();
  std::atomic<bool> long_ended{false};
  Waiting long_job, short_job;
  bool was_before = false;
  std::vector<std::string> many(200, "our hero in the house");
  ASSERT_TRUE(queue
                  ->submit(inputs(many),
                           [&](EncodeOutput&& output) {
                             long_ended = true;
                             long_job.promise.set_value(std::move(output));
                           })
                  .is_ok());
  ASSERT_TRUE(queue
                  ->submit(inputs({"a tune"}),
                           [&](EncodeOutput&& output) {
                             was_before = !long_ended;
                             short_job.promise.set_value(std::move(output));
                           })
                  .is_ok());
  first.released.count_down();
  EXPECT_TRUE(short_job.get().status.is_ok());
  EXPECT_EQ(long_job.get().vectors.size(), 200U);
  EXPECT_TRUE(was_before);
}

TEST(EncodeQueue, a_full_queue_refuses_and_takes_again_later) {
  TestEncoder tiny("bert-mean");
  const auto queue = EncodeQueue::start(*tiny.encoder, {.max_texts = 3, .max_bytes = 1 << 20});
  Blocker first;
  ASSERT_TRUE(queue->submit(inputs({"soup"}), first.callback()).is_ok());
  first.reached.wait();
  Waiting taken, refused, later;
  ASSERT_TRUE(queue->submit(inputs({"soup", "tune"}), taken.callback()).is_ok());
  const auto full = queue->submit(inputs({"a", "b"}), refused.callback());
  EXPECT_EQ(full.status().code(), StatusCode::kExhausted);
  EXPECT_THAT(full.status().message(), HasSubstr("2 texts are waiting already"));
  first.released.count_down();
  EXPECT_TRUE(taken.get().status.is_ok());
  EXPECT_TRUE(queue->submit(inputs({"a", "b"}), refused.callback()).is_ok());
  EXPECT_TRUE(refused.get().status.is_ok());
  queue->drain(10'000'000);
  EXPECT_EQ(queue->submit(inputs({"a"}), later.callback()).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(queue->stats().jobs_refused, 1);
}

TEST(EncodeQueue, a_job_larger_than_the_queue_runs_when_it_is_alone) {
  TestEncoder tiny("bert-mean");
  const auto queue = EncodeQueue::start(*tiny.encoder, {.max_texts = 2, .max_bytes = 10});
  Waiting job;
  ASSERT_TRUE(queue->submit(inputs(kTexts), job.callback()).is_ok());
  EXPECT_TRUE(job.get().status.is_ok());
}

TEST(EncodeQueue, a_text_that_is_wrong_ends_its_job_alone) {
  TestEncoder tiny("bert-mean");
  const auto queue = EncodeQueue::start(*tiny.encoder);
  Waiting wrong, right, single;
  std::vector<EncodeInput> mixed = inputs({"soup", "tune"});
  mixed.push_back({.tokens = {5, 999}});
  ASSERT_TRUE(queue->submit(std::move(mixed), wrong.callback()).is_ok());
  ASSERT_TRUE(queue->submit(inputs({"soup"}), right.callback()).is_ok());
  std::string long_text;
  for (int i = 0; i < 50; ++i) long_text += "the inn ";
  ASSERT_TRUE(queue->submit(inputs({long_text}), single.callback()).is_ok());
  const Status status = wrong.get().status;
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("text 2"));
  EXPECT_TRUE(right.get().status.is_ok());
  EXPECT_THAT(single.get().status.message(), HasSubstr("the text has 102 tokens, but the model reads at most 32"));
  EXPECT_EQ(queue->submit({}, wrong.callback()).status().code(), StatusCode::kInvalidArgument);
}

TEST(EncodeQueue, jobs_are_cancelled_one_by_one_and_at_the_end) {
  TestEncoder tiny("bert-mean");
  auto queue = EncodeQueue::start(*tiny.encoder);
  Blocker first;
  ASSERT_TRUE(queue->submit(inputs({"soup"}), first.callback()).is_ok());
  first.reached.wait();
  Waiting one, kept, last;
  const uint64_t id = queue->submit(inputs(kTexts), one.callback()).value();
  ASSERT_TRUE(queue->submit(inputs({"tune"}), kept.callback()).is_ok());
  queue->cancel(id);
  queue->cancel(id + 77);
  first.released.count_down();
  EXPECT_EQ(one.get().status.code(), StatusCode::kCancelled);
  EXPECT_TRUE(kept.get().status.is_ok());

  Blocker second;
  ASSERT_TRUE(queue->submit(inputs({"soup"}), second.callback()).is_ok());
  second.reached.wait();
  ASSERT_TRUE(queue->submit(inputs(kTexts), last.callback()).is_ok());
  std::thread ending([&] { queue.reset(); });
  second.released.count_down();
  ending.join();
  // Cancelled, or done before the end was known.
  const EncodeOutput output = last.get();
  EXPECT_TRUE(output.status.is_ok() || output.status.code() == StatusCode::kCancelled);
}

}  // namespace
}  // namespace nereid::llm
