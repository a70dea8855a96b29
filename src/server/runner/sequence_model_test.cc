// SPDX-License-Identifier: Apache-2.0
#include "server/runner/sequence_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "server/runner/test_backend.h"

namespace nereid::server {
namespace {

using testing::HasSubstr;

ModelConfig sequence_config() {
  ModelConfig config = test_config();
  config.max_batch_size = 1;
  config.sequence_batching = SequenceBatching{};
  return config;
}

InferRequest part(uint64_t sequence, int32_t value, bool is_start = false, bool is_end = false) {
  InferRequest request = test_request(value);
  request.sequence = {.id = sequence, .text_id = {}, .is_start = is_start, .is_end = is_end};
  return request;
}

Run echo() {
  return [](const std::string&, Batch batch) {
    for (const auto& one : batch) one->send(test_response(value_in(*one)));
  };
}

TEST(SequenceModel, one_that_waits_for_a_slot_is_refused_on_time_though_the_only_instance_is_busy) {
  std::promise<void> door;
  const auto open = door.get_future().share();
  const auto model = *serve_test(sequence_config(), [&](const std::string&, Batch batch) {
    open.wait();
    for (const auto& one : batch) one->send(test_response(value_in(*one)));
  });
  auto running = ask_later(*model, part(1, 10, true));
  InferRequest waits = part(2, 20, true);
  waits.timeout_us = 20'000;
  const int64_t begin_ns = now_ns();
  auto late = ask_later(*model, std::move(waits)), behind = ask_later(*model, part(2, 21));
  EXPECT_THAT(late.get(), HasSubstr("timeout of the corresponding sequence"));
  EXPECT_THAT(behind.get(), HasSubstr("timeout of the corresponding sequence")) << "its sequence has not begun";
  EXPECT_GE(now_ns() - begin_ns, 20'000'000);
  EXPECT_EQ(running.wait_for(std::chrono::seconds(0)), std::future_status::timeout) << "the instance was still busy";
  door.set_value();
  EXPECT_EQ(running.get(), "10");
  model->drain();
  EXPECT_EQ(model->statistics().failures[static_cast<size_t>(InferFailure::kRejected)], 2u);
}

TEST(SequenceModel, a_sequence_keeps_its_place_in_the_batch_and_empty_slots_are_told_by_ready) {
  ModelConfig config = sequence_config();
  config.max_batch_size = 4;
  config.sequence_batching->controls = {{.name = "READY", .kind = ControlKind::kReady, .type = InferType::kInt32}};
  std::vector<std::string> seen;  // one batch at a time
  const auto run = [&](const std::string&, Batch batch) {
    std::string line;
    for (const auto& one : batch)
      line += fmt::format("{}{} ", value_of(one->input("READY")) != 0 ? "" : "-", value_in(*one));
    seen.push_back(line);
    for (const auto& one : batch) one->send(test_response(value_in(*one)));
  };
  const auto model = *serve_test(config, run);
  for (int32_t s = 1; s <= 3; ++s)
    EXPECT_EQ(ask_later(*model, part(static_cast<uint64_t>(s), s, true)).get(), std::to_string(s));
  EXPECT_EQ(ask_later(*model, part(2, 7, false, true)).get(), "7");
  EXPECT_THAT(seen, testing::ElementsAre("1 ", "-0 2 ", "-0 -0 3 ", "-0 7 "));
  model->drain();
  EXPECT_EQ(model->statistics().inferences, 4u) << "empty slots are no requests";
  seen.clear();
  config.sequence_batching->controls.clear();
  const auto other = *serve_test(config, run);
  ask_later(*other, part(1, 1, true)).get();
  ask_later(*other, part(2, 2, true)).get();
  EXPECT_THAT(seen, testing::ElementsAre("-1 ", "-2 ")) << "without READY nothing is filled up";
}

TEST(SequenceModel, states_go_from_request_to_request_and_never_to_another_sequence) {
  ModelConfig config = sequence_config();
  config.max_batch_size = 4;
  config.sequence_batching->states = {{.input = "before",
                                       .output = "after",
                                       .type = InferType::kInt32,
                                       .dims = {1},
                                       .initial_dims = {},
                                       .initial_file = {}}};
  const auto model = *serve_test(config, [](const std::string&, Batch batch) {
    for (const auto& one : batch) {
      const int32_t sum = value_of(one->input("before")) + value_in(*one);
      InferResponse response = test_response(sum);
      EXPECT_TRUE(one->wants("after"));
      response.outputs.push_back(tensor_of("after", InferType::kInt32, {1, 1}, std::vector<int32_t>{sum}));
      one->send(std::move(response));
    }
  });
  int sums[3] = {};
  for (int i = 0; i < 20; ++i)
    for (int s = 0; s < 3; ++s) {
      InferRequest request = part(static_cast<uint64_t>(s + 1), i * s + 1, i == 0 || i == 10);
      if (i % 2 == 1) request.outputs = {"out"};
      if (i == 10) sums[s] = 0;
      EXPECT_EQ(ask_later(*model, std::move(request)).get(), std::to_string(sums[s] += i * s + 1));
    }
}

TEST(SequenceModel, states_of_different_sizes_run_in_batches_of_their_own) {
  ModelConfig config = sequence_config();
  config.max_batch_size = 4;
  config.sequence_batching->states = {{.input = "before",
                                       .output = "after",
                                       .type = InferType::kInt32,
                                       .dims = {-1},
                                       .initial_dims = {},
                                       .initial_file = {}}};
  std::atomic<bool> is_mixed = false;
  const auto model = *serve_test(config, [&](const std::string&, Batch batch) {
    for (const auto& one : batch) {
      if (one->input("before")->shape != batch[0]->input("before")->shape) is_mixed = true;
      InferResponse response = test_response(static_cast<int32_t>(one->input("before")->shape[1]));
      const int64_t size = value_in(*one);
      response.outputs.push_back(
          tensor_of("after", InferType::kInt32, {1, size}, std::vector<int32_t>(static_cast<size_t>(size))));
      one->send(std::move(response));
    }
  });
  for (int i = 0; i < 20; ++i) {
    std::vector<std::future<std::string>> answers;
    for (int s = 1; s <= 4; ++s)
      answers.push_back(ask_later(*model, part(static_cast<uint64_t>(s), s % 3 + 1, i == 0)));
    for (int s = 1; s <= 4; ++s)
      EXPECT_EQ(answers[static_cast<size_t>(s - 1)].get(), std::to_string(i == 0 ? 1 : s % 3 + 1));
  }
  EXPECT_FALSE(is_mixed);
}

TEST(SequenceModel, an_iterative_request_runs_until_the_model_is_done_beside_others) {
  ModelConfig config = sequence_config();
  config.max_batch_size = 2;
  config.sequence_batching->is_iterative = true;
  config.sequence_batching->states = {{.input = "left",
                                       .output = "rest",
                                       .type = InferType::kInt32,
                                       .dims = {1},
                                       .initial_dims = {},
                                       .initial_file = {}}};
  config.sequence_batching->controls = {{.name = "START", .kind = ControlKind::kStart, .type = InferType::kInt32}};
  std::atomic<int> runs = 0;
  const auto model = *serve_test(config, [&](const std::string&, Batch batch) {
    for (const auto& one : batch) {
      ++runs;
      const int32_t left = value_of(one->input("START")) != 0 ? value_in(*one) : value_of(one->input("left"));
      if (left > 1) {
        EXPECT_TRUE(one->run_again({tensor_of("rest", InferType::kInt32, {1, 1}, std::vector<int32_t>{left - 1})}));
      } else {
        one->send(test_response(value_in(*one) * 100 + left));
      }
    }
  });
  std::vector<std::future<std::string>> answers;
  for (int n = 1; n <= 5; ++n) answers.push_back(ask_later(*model, test_request(n)));
  for (int n = 1; n <= 5; ++n) EXPECT_EQ(answers[static_cast<size_t>(n - 1)].get(), std::to_string(n * 100 + 1));
  EXPECT_EQ(runs, 1 + 2 + 3 + 4 + 5);
  model->drain();
  EXPECT_EQ(model->statistics().success.count, 5u);
}

TEST(SequenceModel, a_model_that_is_not_iterative_may_not_run_a_request_again) {
  const auto model = *serve_test(sequence_config(), [](const std::string&, Batch batch) {
    for (const auto& one : batch) one->send(test_response(one->run_again({}) ? 1 : 0));
  });
  EXPECT_EQ(ask_later(*model, part(1, 5, true)).get(), "0");
}

TEST(SequenceModel, a_cancelled_request_takes_what_was_to_follow_it_along_and_frees_the_slot) {
  std::promise<void> door;
  const auto open = door.get_future().share();
  const auto model = *serve_test(sequence_config(), [&](const std::string&, Batch batch) {
    open.wait();
    for (const auto& one : batch) one->send(test_response(value_in(*one)));
  });
  auto first = ask_later(*model, part(1, 10, true));
  InferRequest unwanted = part(1, 11);
  unwanted.cancelled = std::make_shared<std::atomic<bool>>(true);
  auto second = ask_later(*model, std::move(unwanted)), third = ask_later(*model, part(1, 12));
  auto other = ask_later(*model, part(2, 20, true, true));
  door.set_value();
  EXPECT_EQ(first.get(), "10");
  EXPECT_THAT(second.get(), HasSubstr("cancelled"));
  EXPECT_THAT(third.get(), HasSubstr("cancelled"));
  EXPECT_EQ(other.get(), "20");
}

TEST(SequenceModel, without_a_beginning_or_a_name_a_request_is_refused) {
  const auto model = *serve_test(sequence_config(), echo());
  EXPECT_THAT(ask_later(*model, part(1, 1)).get(), HasSubstr("must specify the START flag"));
  EXPECT_THAT(ask_later(*model, test_request(1)).get(), HasSubstr("non-zero or non-empty correlation ID"));
}

}  // namespace
}  // namespace nereid::server
