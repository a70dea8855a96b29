// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cached_model.h"

#include <gtest/gtest.h>

#include <utility>

#include "server/cache/local_cache.h"
#include "server/cache/test_cache_model.h"

namespace nereid::server {
namespace {

struct Cached {
  std::shared_ptr<CountingModel> model = std::make_shared<CountingModel>();
  std::shared_ptr<ResponseCache> cache = make_local_cache(1 << 20);
  std::shared_ptr<InferModel> cached = make_cached_model(model, cache);
};

TEST(CachedModel, the_same_request_is_answered_without_the_model) {
  Cached c;
  EXPECT_EQ(ask(*c.cached, cache_request({1, 2})), 1);
  EXPECT_EQ(ask(*c.cached, cache_request({1, 2})), 1);
  EXPECT_EQ(c.model->asked, 1);
  const InferStatistics s = c.cached->statistics();
  EXPECT_EQ(s.cache_hit.count, 1u);
  EXPECT_EQ(s.cache_miss.count, 1u);
  EXPECT_EQ(s.success.count, 1u) << "the hit; the model counts its own";
}

TEST(CachedModel, whatever_may_change_an_answer_makes_another_request) {
  Cached c;
  EXPECT_EQ(ask(*c.cached, cache_request({1, 2})), 1);
  EXPECT_EQ(ask(*c.cached, cache_request({2, 1})), 2) << "bytes";
  InferRequest more = cache_request({1, 2});
  more.inputs.push_back(tensor_of("b", InferType::kInt32, {2, 3}, std::vector<int32_t>(6)));
  EXPECT_EQ(ask(*c.cached, more), 3) << "an optional input";
  more.inputs[1].shape = {3, 2};
  EXPECT_EQ(ask(*c.cached, more), 4) << "the shape of the same bytes";
  InferRequest told = cache_request({1, 2});
  told.parameters = {{"temperature", 0.5}};
  EXPECT_EQ(ask(*c.cached, told), 5) << "a parameter";
  told.parameters = {{"temperature", 0.7}};
  EXPECT_EQ(ask(*c.cached, told), 6) << "its value";
  c.model->mark = 2;
  EXPECT_EQ(ask(*c.cached, cache_request({1, 2})), 7) << "another content of the model";
}

TEST(CachedModel, what_changes_no_answer_makes_no_difference) {
  Cached c;
  InferRequest first = cache_request({1, 2});
  first.inputs.push_back(tensor_of("b", InferType::kInt32, {1, 1}, std::vector<int32_t>(1)));
  EXPECT_EQ(ask(*c.cached, first), 1);
  InferRequest other = first;
  std::swap(other.inputs[0], other.inputs[1]);
  other.outputs = {"out"};  // all there are
  other.id = "x", other.priority = 3, other.timeout_us = 100;
  EXPECT_EQ(ask(*c.cached, other), 1);
}

// Sends it, and notes the answer when it comes.
void send(Cached& c, InferRequest request, std::vector<int32_t>* answers) {
  ASSERT_TRUE(
      c.cached->infer(std::move(request), [answers](InferResponse&& one) { answers->push_back(number_of(one)); })
          .is_ok());
}
void give_held(CountingModel& model) {
  for (auto& [sink, response] : std::exchange(model.held, {})) sink(std::move(response));
}

TEST(CachedModel, equal_requests_at_one_moment_ask_the_model_once) {
  Cached c;
  c.model->holds = true;
  std::vector<int32_t> answers, others;
  for (int i = 0; i < 3; ++i) send(c, cache_request({1, 2}), &answers);
  send(c, cache_request({2, 1}), &others);
  EXPECT_EQ(c.model->asked, 2);
  EXPECT_TRUE(answers.empty());
  give_held(*c.model);
  EXPECT_EQ(answers, (std::vector<int32_t>{1, 1, 1}));
  EXPECT_EQ(others, (std::vector<int32_t>{2}));
  EXPECT_EQ(c.cached->statistics().cache_hit.count, 2u);
  EXPECT_EQ(c.cached->statistics().cache_miss.count, 2u);
  send(c, cache_request({1, 2}), &answers);
  EXPECT_EQ(c.model->asked, 2);
}

TEST(CachedModel, an_error_is_not_the_answer_to_those_that_waited) {
  Cached c;
  c.model->holds = c.model->fails = true;
  std::vector<int32_t> answers;
  for (int i = 0; i < 3; ++i) send(c, cache_request({1}), &answers);
  EXPECT_EQ(c.model->asked, 1);
  c.model->fails = false;
  give_held(*c.model);
  EXPECT_EQ(answers, (std::vector<int32_t>{-1}));
  EXPECT_EQ(c.model->asked, 2) << "the second, and the third waits for it";
  give_held(*c.model);
  EXPECT_EQ(answers, (std::vector<int32_t>{-1, 2, 2}));
}

TEST(CachedModel, a_request_with_a_time_limit_waits_for_no_other) {
  Cached c;
  c.model->holds = true;
  std::vector<int32_t> answers;
  send(c, cache_request({1}), &answers);
  InferRequest hurried = cache_request({1});
  hurried.timeout_us = 1000;
  send(c, std::move(hurried), &answers);
  EXPECT_EQ(c.model->asked, 2);
  give_held(*c.model);
  EXPECT_EQ(answers.size(), 2u);
}

TEST(CachedModel, errors_are_not_kept) {
  Cached c;
  c.model->fails = true;
  EXPECT_EQ(ask(*c.cached, cache_request({1})), -1);
  c.model->fails = false;
  EXPECT_EQ(ask(*c.cached, cache_request({1})), 2);
  EXPECT_EQ(c.cached->statistics().cache_miss.count, 1u);
}

TEST(CachedModel, what_is_wrong_is_told_before_anything_is_looked_for) {
  Cached c;
  InferRequest wrong = cache_request({1});
  wrong.inputs[0].name = "none";
  EXPECT_FALSE(c.cached->infer(std::move(wrong), [](InferResponse&&) {}).is_ok());
  EXPECT_EQ(c.cache->figures()->lookups, 0u);
}

TEST(CachedModel, memory_stays_within_its_bound_and_what_goes_is_counted) {
  Cached c;
  c.cache = make_local_cache(4096);
  c.cached = make_cached_model(c.model, c.cache);
  for (int32_t i = 0; i < 200; ++i) ask(*c.cached, cache_request({i}));
  const CacheFigures figures = *c.cache->figures();
  EXPECT_LE(figures.bytes, 4096u);
  EXPECT_GT(figures.entries, 4u);
  EXPECT_EQ(figures.evictions + figures.entries, 200u);
  EXPECT_EQ(ask(*c.cached, cache_request({199})), 200) << "the last one is still there";
  EXPECT_EQ(ask(*c.cached, cache_request({0})), 201) << "the first one is not";
}

TEST(CachedModel, nothing_more_of_a_request_stays_in_memory_than_its_answer) {
  auto big = std::make_shared<std::vector<int32_t>>(1000);
  const std::weak_ptr<std::vector<int32_t>> request_bytes = big;
  InferResponse response;
  response.outputs = {{.name = "out",
                       .type = InferType::kInt32,
                       .shape = {1},
                       .bytes = std::as_bytes(std::span(*big)).first(4),
                       .owner = std::move(big)}};
  const auto kept = CachedResponse::copy_of(response);
  response = {};
  EXPECT_TRUE(request_bytes.expired());
  EXPECT_LT(kept->bytes(), 1000u);
}

TEST(CachedModel, a_model_that_drains_takes_no_more) {
  Cached c;
  c.cached->drain();
  EXPECT_FALSE(c.cached->is_ready());
  EXPECT_FALSE(c.cached->infer(cache_request({1}), [](InferResponse&&) {}).is_ok());
}

}  // namespace
}  // namespace nereid::server
