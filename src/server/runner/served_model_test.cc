// SPDX-License-Identifier: Apache-2.0
#include "server/runner/served_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace nereid::server {
namespace {

using testing::HasSubstr;

// A door that executions stand before until it is opened.
class Door {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      is_open_ = true;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  void wait_for(int arrived) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= arrived; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool is_open_ = false;
};

struct Notes {
  std::mutex mutex;
  std::vector<size_t> batches;  // requests of each execution
  Door door;
  bool waits = false;
  bool forgets = false;  // answers nothing
};

class FakeInstance final : public BackendInstance {
 public:
  explicit FakeInstance(std::shared_ptr<Notes> notes) : notes_(std::move(notes)) {}
  ExecutionTimes execute(std::span<const std::shared_ptr<Execution>> batch) override {
    {
      const std::lock_guard lock(notes_->mutex);
      notes_->batches.push_back(batch.size());
    }
    if (notes_->waits) notes_->door.pass();
    for (const auto& one : batch) {
      if (notes_->forgets) continue;
      InferResponse response;
      response.outputs = {*one->input("in")};
      response.outputs[0].name = "out";
      one->send(std::move(response));
    }
    return {};
  }

 private:
  const std::shared_ptr<Notes> notes_;
};

class FakeBackendModel final : public BackendModel {
 public:
  explicit FakeBackendModel(std::shared_ptr<Notes> notes) : notes_(std::move(notes)) {}
  Result<std::unique_ptr<BackendInstance>> make_instance(const std::string&) override {
    return std::unique_ptr<BackendInstance>(std::make_unique<FakeInstance>(notes_));
  }

 private:
  const std::shared_ptr<Notes> notes_;
};

ModelConfig config_of(std::optional<DynamicBatching> batching = {}) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = 8;
  config.inputs = {{.name = "in", .type = InferType::kUint8, .dims = {1}, .reshape = {}, .label_file = {}}};
  config.outputs = {{.name = "out", .type = InferType::kUint8, .dims = {1}, .reshape = {}, .label_file = {}}};
  config.instances = {{.name = "m_0", .kind = InstanceKind::kCpu, .count = 1}};
  config.dynamic_batching = std::move(batching);
  return config;
}

std::shared_ptr<InferModel> serve(ModelConfig config, std::shared_ptr<Notes> notes) {
  auto made = serve_model({.config = std::move(config),
                           .json = "{}",
                           .labels = {},
                           .version = 1,
                           .backend = std::make_unique<FakeBackendModel>(std::move(notes))});
  EXPECT_TRUE(made.is_ok()) << made.status().message();
  return *made;
}

InferRequest request_of(uint8_t value, std::string id = "") {
  InferRequest request;
  request.id = std::move(id);
  request.inputs.push_back(tensor_of("in", InferType::kUint8, {1, 1}, std::vector<uint8_t>{value}));
  return request;
}

// Its answer, or its error, either way it comes.
std::future<std::string> ask(InferModel& model, InferRequest request) {
  auto promise = std::make_shared<std::promise<std::string>>();
  auto future = promise->get_future();
  const Status status = model.infer(std::move(request), [promise](InferResponse&& r) {
    promise->set_value(r.status.is_ok() ? std::to_string(static_cast<int>(r.outputs[0].bytes[0])) : r.status.message());
  });
  if (!status.is_ok()) promise->set_value(status.message());
  return future;
}

TEST(ServedModel, each_request_gets_its_own_answer_and_is_counted) {
  const auto notes = std::make_shared<Notes>();
  const auto model = serve(config_of(), notes);
  std::vector<std::future<std::string>> answers;
  for (uint8_t i = 0; i < 50; ++i) answers.push_back(ask(*model, request_of(i)));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(answers[static_cast<size_t>(i)].get(), std::to_string(i));
  model->drain();
  const InferStatistics s = model->statistics();
  EXPECT_EQ(s.success.count, 50u);
  EXPECT_EQ(s.inferences, 50u);
  EXPECT_EQ(s.executions, 50u);
  EXPECT_EQ(s.batches.at(1).infer.count, 50u);
  EXPECT_GT(s.last_inference_ms, 0u);
}

TEST(ServedModel, what_waits_while_an_instance_is_busy_runs_together) {
  const auto notes = std::make_shared<Notes>();
  notes->waits = true;
  const auto model = serve(config_of(DynamicBatching{}), notes);
  std::vector<std::future<std::string>> answers;
  answers.push_back(ask(*model, request_of(0)));
  notes->door.wait_for(1);
  for (uint8_t i = 1; i <= 10; ++i) answers.push_back(ask(*model, request_of(i)));
  EXPECT_EQ(model->statistics().pending, 10);
  notes->door.open();
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].get(), std::to_string(i));
  EXPECT_THAT(notes->batches, testing::ElementsAre(1, 8, 2));
}

TEST(ServedModel, a_full_queue_and_a_late_request_are_refused_while_the_instance_is_busy) {
  const auto notes = std::make_shared<Notes>();
  notes->waits = true;
  DynamicBatching batching;
  batching.default_policy = {.default_timeout_us = 2000, .max_size = 1};
  const auto model = serve(config_of(batching), notes);
  auto first = ask(*model, request_of(0));
  notes->door.wait_for(1);
  auto late = ask(*model, request_of(1, "a"));
  auto refused = ask(*model, request_of(2));
  EXPECT_EQ(refused.get(), "[request id: <id_unknown>] Exceeds maximum queue size");
  EXPECT_EQ(late.get(), "Request timeout expired");
  notes->door.open();
  EXPECT_EQ(first.get(), "0");
  model->drain();
  EXPECT_EQ(model->statistics().failures[static_cast<size_t>(InferFailure::kRejected)], 2u);
}

TEST(ServedModel, a_request_that_nobody_wants_any_more_does_not_run) {
  const auto notes = std::make_shared<Notes>();
  notes->waits = true;
  const auto model = serve(config_of(), notes);
  auto first = ask(*model, request_of(0));
  notes->door.wait_for(1);
  InferRequest unwanted = request_of(1);
  unwanted.cancelled = std::make_shared<std::atomic<bool>>(false);
  const auto cancel = unwanted.cancelled;
  auto second = ask(*model, std::move(unwanted));
  cancel->store(true);
  notes->door.open();
  EXPECT_THAT(second.get(), HasSubstr("cancelled"));
  first.get();
  model->drain();
  EXPECT_EQ(notes->batches.size(), 1u);
  EXPECT_EQ(model->statistics().failures[static_cast<size_t>(InferFailure::kCancelled)], 1u);
}

TEST(ServedModel, a_request_that_the_backend_forgets_is_an_error_not_a_hang) {
  const auto notes = std::make_shared<Notes>();
  notes->forgets = true;
  const auto model = serve(config_of(), notes);
  EXPECT_THAT(ask(*model, request_of(0)).get(), HasSubstr("without an answer"));
}

TEST(ServedModel, a_model_that_drains_ends_what_it_has_and_takes_nothing_more) {
  const auto notes = std::make_shared<Notes>();
  notes->waits = true;
  const auto model = serve(config_of(), notes);
  auto running = ask(*model, request_of(3));
  notes->door.wait_for(1);
  std::thread drain([&] { model->drain(); });
  while (model->is_ready()) std::this_thread::yield();
  EXPECT_THAT(ask(*model, request_of(4)).get(), HasSubstr("is being unloaded"));
  notes->door.open();
  drain.join();
  EXPECT_EQ(running.get(), "3");
}

TEST(ServedModel, a_model_may_end_with_its_last_answer) {
  const auto notes = std::make_shared<Notes>();
  const auto answered = std::make_shared<std::promise<void>>();
  const std::future<void> future = answered->get_future();
  {
    auto model = serve(config_of(), notes);
    const Status status = model->infer(request_of(1), [model, answered](InferResponse&&) { answered->set_value(); });
    ASSERT_TRUE(status.is_ok());
  }
  future.wait();
}

TEST(ServedModel, what_does_not_fit_is_refused_before_it_waits) {
  const auto model = serve(config_of(), std::make_shared<Notes>());
  InferRequest wrong = request_of(0);
  wrong.inputs[0].shape = {1, 2};
  EXPECT_THAT(ask(*model, std::move(wrong)).get(), HasSubstr("Expected [-1,1], got [1,2]"));
  EXPECT_EQ(model->statistics().fail.count, 0u);
}

}  // namespace
}  // namespace nereid::server
