// SPDX-License-Identifier: Apache-2.0
#include "server/runner/ordered_sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <thread>

namespace nereid::server {
namespace {

using testing::ElementsAre;

InferResponse part(std::string text, bool is_final) {
  InferResponse response;
  response.parameters = {{"text", std::move(text)}};
  response.is_final = is_final;
  return response;
}

struct Log {
  std::vector<std::string> lines;
  InferSink sink(std::string who) {
    return [this, who = std::move(who)](InferResponse&& response) {
      lines.push_back(who + std::get<std::string>(response.parameters[0].second));
    };
  }
};

TEST(OrderedSinks, responses_wait_for_the_last_of_those_before) {
  const auto sinks = std::make_shared<OrderedSinks>();
  Log log;
  const InferSink first = sinks->wrap(1, log.sink("a")), second = sinks->wrap(2, log.sink("b"));
  sinks->begin(1);
  sinks->begin(2);
  second(part("1", false));
  first(part("1", false));
  second(part("2", true));
  EXPECT_THAT(log.lines, ElementsAre("a1"));
  first(part("2", true));
  EXPECT_THAT(log.lines, ElementsAre("a1", "a2", "b1", "b2"));
}

TEST(OrderedSinks, who_is_refused_before_it_began_need_not_wait) {
  const auto sinks = std::make_shared<OrderedSinks>();
  Log log;
  const InferSink first = sinks->wrap(1, log.sink("a")), second = sinks->wrap(2, log.sink("b"));
  sinks->begin(1);
  second(part("late", true));
  EXPECT_THAT(log.lines, ElementsAre("blate"));
  first(part("1", true));
  EXPECT_THAT(log.lines, ElementsAre("blate", "a1"));
}

TEST(OrderedSinks, many_threads_answer_and_the_order_is_kept) {
  const auto sinks = std::make_shared<OrderedSinks>();
  constexpr int kRequests = 2000, kThreads = 4;
  std::vector<int> order;  // one thread at a time is in a sink
  std::vector<InferSink> given;
  for (int i = 0; i < kRequests; ++i) {
    given.push_back(sinks->wrap(static_cast<uint64_t>(i), [&order, i](InferResponse&&) { order.push_back(i); }));
    sinks->begin(static_cast<uint64_t>(i));
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = kRequests - kThreads + t; i >= 0; i -= kThreads) given[static_cast<size_t>(i)](part("", true));
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<int> expected(kRequests);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

}  // namespace
}  // namespace nereid::server
