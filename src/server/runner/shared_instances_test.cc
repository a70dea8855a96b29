// SPDX-License-Identifier: Apache-2.0
// What instances of a model do beside each other: answers in order, resources that are shared, places to run at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "server/runner/test_backend.h"

namespace nereid::server {
namespace {

void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

TEST(SharedInstances, answers_keep_the_order_of_requests_though_a_later_one_is_done_first) {
  ModelConfig config = test_config();
  config.max_batch_size = 1;
  config.instances[0].count = 3;
  config.dynamic_batching = DynamicBatching{};
  config.dynamic_batching->preserves_order = true;
  const auto model = *serve_test(config, [](const std::string&, Batch batch) {
    for (const auto& one : batch) {
      sleep_ms(value_in(*one) % 3 == 0 ? 6 : 0);
      one->send(test_response(value_in(*one)));
    }
  });
  std::mutex mutex;
  std::vector<int> order;
  std::promise<void> all;
  constexpr int kRequests = 30;
  for (int i = 0; i < kRequests; ++i)
    ASSERT_TRUE(model
                    ->infer(test_request(i),
                            [&](InferResponse&& r) {
                              const std::lock_guard lock(mutex);
                              order.push_back(value_of(&r.outputs[0]));
                              if (order.size() == kRequests) all.set_value();
                            })
                    .is_ok());
  all.get_future().wait();
  const std::lock_guard lock(mutex);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end())) << testing::PrintToString(order);
}

// How many ran at one time, at most.
struct Crowd {
  std::atomic<int> now = 0, most = 0;
  Run run() {
    return [this](const std::string&, Batch batch) {
      const int here = ++now;
      for (int before = most; here > before && !most.compare_exchange_weak(before, here);) {
      }
      sleep_ms(2);
      --now;
      for (const auto& one : batch) one->send(test_response(value_in(*one)));
    };
  }
};

TEST(SharedInstances, what_shares_a_resource_runs_one_after_the_other_even_in_different_models) {
  const auto rules = std::make_shared<RunnerRules>();
  rules->gate = std::make_shared<RateGate>(std::vector<ResourceLimit>{{.name = "r", .count = 1}});
  ModelConfig config = test_config();
  config.max_batch_size = 1;
  config.instances[0].count = 2;
  config.instances[0].resources = {{.name = "r", .is_global = true, .count = 1}};
  ModelConfig sequences = config;
  sequences.sequence_batching = SequenceBatching{};
  sequences.instances[0].count = 1;
  Crowd crowd;
  const auto a = *serve_test(config, crowd.run(), rules), b = *serve_test(config, crowd.run(), rules),
             c = *serve_test(sequences, crowd.run(), rules);
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 10; ++i) {
    answers.push_back(ask_later(*a, test_request(i)));
    answers.push_back(ask_later(*b, test_request(i)));
    InferRequest part = test_request(i);
    part.sequence = {.id = 5, .text_id = {}, .is_start = i == 0, .is_end = i == 9};
    answers.push_back(ask_later(*c, std::move(part)));
  }
  for (size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].get(), std::to_string(i / 3));
  EXPECT_EQ(crowd.most, 1);
}

TEST(SharedInstances, without_a_resource_in_common_they_run_at_the_same_time) {
  const auto rules = std::make_shared<RunnerRules>();
  rules->gate = std::make_shared<RateGate>(std::vector<ResourceLimit>{});
  ModelConfig config = test_config();
  config.max_batch_size = 1;
  config.instances[0].count = 2;
  std::promise<void> both;
  std::atomic<int> inside = 0;
  auto met = both.get_future().share();
  const auto model = *serve_test(
      config,
      [&](const std::string&, Batch batch) {
        if (++inside == 2) both.set_value();
        EXPECT_EQ(met.wait_for(std::chrono::seconds(20)), std::future_status::ready) << "they wait for each other";
        for (const auto& one : batch) one->send(test_response(1));
      },
      rules);
  auto first = ask_later(*model, test_request(1)), second = ask_later(*model, test_request(2));
  EXPECT_EQ(first.get(), "1");
  EXPECT_EQ(second.get(), "1");
}

TEST(SharedInstances, a_resource_that_is_too_small_fails_the_model_and_gives_its_place_back) {
  const auto rules = std::make_shared<RunnerRules>();
  rules->gate = std::make_shared<RateGate>(std::vector<ResourceLimit>{{.name = "r", .count = 1}});
  ModelConfig config = test_config();
  config.instances[0].resources = {{.name = "r", .count = 2}};
  Crowd crowd;
  const auto model = serve_test(config, crowd.run(), rules);
  ASSERT_FALSE(model.is_ok());
  EXPECT_THAT(model.status().message(), testing::HasSubstr("the minimum required count is 2"));
}

TEST(SharedInstances, a_full_queue_has_room_again_when_somebody_in_it_does_not_want_an_answer_any_more) {
  ModelConfig config = test_config();
  config.max_batch_size = 1;
  config.dynamic_batching = DynamicBatching{};
  config.dynamic_batching->default_policy.max_size = 1;
  std::promise<void> door;
  std::atomic<int> inside = 0;
  const auto open = door.get_future().share();
  const auto model = *serve_test(config, [&](const std::string&, Batch batch) {
    ++inside;
    open.wait();
    for (const auto& one : batch) one->send(test_response(value_in(*one)));
  });
  auto running = ask_later(*model, test_request(1));
  while (inside == 0) sleep_ms(1);
  InferRequest unwanted = test_request(2);
  const auto cancel = unwanted.cancelled = std::make_shared<std::atomic<bool>>(false);
  auto waiting = ask_later(*model, std::move(unwanted));
  EXPECT_THAT(ask_later(*model, test_request(3)).get(), testing::HasSubstr("Exceeds maximum queue size"));
  cancel->store(true);
  auto taken = ask_later(*model, test_request(4));
  EXPECT_THAT(waiting.get(), testing::HasSubstr("cancelled"));
  door.set_value();
  EXPECT_EQ(running.get(), "1");
  EXPECT_EQ(taken.get(), "4");
}

TEST(SharedInstances, instances_run_on_the_processors_of_their_policy) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  int last = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<size_t>(i), &mine)) last = i;
  auto rules = std::make_shared<RunnerRules>();
  auto policies = HostPolicies::parse({fmt::format("one,cpu-cores={}", last)});
  ASSERT_TRUE(policies.is_ok()) << policies.status().message();
  rules->policies = std::move(*policies);
  ModelConfig config = test_config();
  config.instances[0].host_policy = "one";
  const auto model = *serve_test(
      config,
      [&](const std::string&, Batch batch) {
        cpu_set_t here;
        CPU_ZERO(&here);
        ::sched_getaffinity(0, sizeof here, &here);
        const bool is_there = CPU_COUNT(&here) == 1 && CPU_ISSET(static_cast<size_t>(last), &here);
        for (const auto& one : batch) one->send(test_response(is_there ? 1 : 0));
      },
      rules);
  EXPECT_EQ(ask_later(*model, test_request(0)).get(), "1");
}

}  // namespace
}  // namespace nereid::server
