// SPDX-License-Identifier: Apache-2.0
// Requests with different adapters, and none, in one executor: each gets what it gets alone, whatever is loaded and
// unloaded meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "llm/run/test_executor.h"
#include "llm/run/tiny_adapter.h"

namespace nereid::llm {
namespace {

using ::testing::ElementsAre;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::kTinyAdapters;
using testing::Listener;
using testing::tiny_adapter;
using testing::tiny_adapter_path;
using testing::TinyModel;

constexpr const char* kName = "tiny-qwen3";

struct Company {
  explicit Company(ExecutorOptions options = {}) : served(kName, load_options(options), 2), single(kName) {
    executor = Executor::start(*served.model, options).value();
    for (const char* adapter : kTinyAdapters) load(adapter, adapter);
  }
  void load(const std::string& name, const std::string& adapter, double scale = 1) {
    const Status s = executor->load_adapter(name, {{tiny_adapter_path(kName, adapter), scale}});
    EXPECT_TRUE(s.is_ok()) << s.message();
  }
  Generated alone(const Request& request, const std::string& adapter, double scale = 1) {
    Generator generator(*single.model);
    generator.set_adapter(tiny_adapter(*single.model, kName, adapter, scale));
    return generator.generate(request.prompt, request.params).value();
  }
  Generated alone(const Request& request) { return alone(request, request.adapter); }
  // What it gets in the executor.
  Generated answer(const Request& request) {
    Listener listener;
    const Status s = executor->enqueue(request, listener.callback()).status();
    EXPECT_TRUE(s.is_ok()) << s.message();
    listener.wait();
    Generated got;
    got.tokens = listener.told().tokens;
    got.reused_tokens = listener.told().last.reused_tokens;
    return got;
  }
  TinyModel served, single;
  std::unique_ptr<Executor> executor;
};

std::vector<int32_t> some_tokens(std::mt19937& random, size_t n) {
  std::vector<int32_t> tokens(n);
  for (int32_t& t : tokens) t = static_cast<int32_t>(random() % 200) + 20;
  return tokens;
}

struct Asked {
  Request request;
  Listener listener;
};

void expect_company_changes_nothing(Company& company, int requests, uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<int32_t> shared = some_tokens(random, 60);
  std::vector<std::unique_ptr<Asked>> asked;
  for (int i = 0; i < requests; ++i) {
    asked.push_back(std::make_unique<Asked>());
    Request& r = asked.back()->request;
    if (random() % 3 != 0) r.prompt.assign(shared.begin(), shared.begin() + 1 + random() % 60);
    const std::vector<int32_t> own = some_tokens(random, 1 + random() % 20);
    r.prompt.insert(r.prompt.end(), own.begin(), own.end());
    r.params.max_tokens = 1 + static_cast<int32_t>(random() % 30);
    if (random() % 2 == 0) r.params.temperature = 0.8F, r.params.seed = random();
    if (random() % 4 != 0) r.adapter = kTinyAdapters[random() % 3];
    ASSERT_TRUE(company.executor->enqueue(r, asked.back()->listener.callback()).is_ok());
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    asked[i]->listener.wait();
    expect_same(asked[i]->listener.told(), company.alone(asked[i]->request),
                fmt::format("seed {}, request {} with '{}'", seed, i, asked[i]->request.adapter));
  }
}

TEST(AdapterRequests, mixed_at_random_get_what_they_get_alone) {
  Company company({.max_sequences = 8, .step_tokens = 24});
  expect_company_changes_nothing(company, 60, 1);
  EXPECT_GT(company.executor->stats().reused_tokens, 0);
  EXPECT_EQ(company.executor->stats().pages_used, 0) << "pages were leaked";
}

TEST(AdapterRequests, the_same_with_so_few_pages_that_requests_are_paused_and_begin_again) {
  Company company({.max_sequences = 6, .step_tokens = 32, .cache_tokens = 160});
  expect_company_changes_nothing(company, 40, 2);
  EXPECT_GT(company.executor->stats().preemptions, 0);
  EXPECT_EQ(company.executor->stats().pages_used, 0) << "pages were leaked";
}

TEST(AdapterRequests, a_prefix_is_found_again_under_its_own_adapter_and_under_no_other) {
  Company company;
  std::mt19937 random(3);
  Request request{.prompt = some_tokens(random, 100), .params = {.max_tokens = 3}};
  for (const char* adapter : {"", "plain", "all"}) {
    request.adapter = adapter;
    EXPECT_EQ(company.answer(request).reused_tokens, 0) << adapter;
    EXPECT_GE(company.answer(request).reused_tokens, 96) << adapter;
  }
}

TEST(AdapterRequests, another_adapter_under_the_same_name_does_not_find_the_first_ones_prefixes) {
  Company company;
  std::mt19937 random(4);
  const Request request{.prompt = some_tokens(random, 100), .params = {.max_tokens = 8}, .adapter = "plain"};
  EXPECT_EQ(company.answer(request).tokens, company.alone(request, "plain").tokens);
  ASSERT_TRUE(company.executor->unload_adapter("plain").is_ok());
  company.load("plain", "all", 0.5);
  const Generated got = company.answer(request);
  EXPECT_EQ(got.reused_tokens, 0);
  EXPECT_EQ(got.tokens, company.alone(request, "all", 0.5).tokens);
}

TEST(AdapterRequests, unloading_forgets_the_cached_pages_once_no_request_has_the_adapter) {
  Company company;
  std::mt19937 random(5);
  const Request request{.prompt = some_tokens(random, 100), .params = {.max_tokens = 3}, .adapter = "all"};
  company.answer(request);
  EXPECT_GT(company.executor->stats().pages_cached, 0);
  ASSERT_TRUE(company.executor->unload_adapter("all").is_ok());
  // The executor's thread has looked after the next request at the latest.
  company.answer({.prompt = {30}, .params = {.max_tokens = 1}});
  company.answer({.prompt = {31}, .params = {.max_tokens = 1}});
  EXPECT_LE(company.executor->stats().pages_cached, 2);
}

TEST(AdapterRequests, a_request_at_hand_ends_with_the_adapter_that_was_unloaded_meanwhile) {
  Company company;
  std::mt19937 random(6);
  const Request request{.prompt = some_tokens(random, 20), .params = {.max_tokens = 40}, .adapter = "all"};
  Listener listener;
  listener.hold();
  ASSERT_TRUE(company.executor->enqueue(request, listener.callback()).is_ok());
  listener.wait_for_tokens(1);
  ASSERT_TRUE(company.executor->unload_adapter("all").is_ok());
  company.load("all", "mlp");
  listener.release();
  listener.wait();
  expect_same(listener.told(), company.alone(request, "all"), "the one at hand");
  EXPECT_EQ(company.answer(request).tokens, company.alone(request, "mlp").tokens);
}

TEST(AdapterRequests, an_answer_that_fills_its_context_goes_on_with_its_adapter) {
  Company company;
  std::mt19937 random(8);
  const Request request{.prompt = some_tokens(random, 20),
                        .params = {.max_tokens = 300, .ignore_eos = 1},
                        .shift_keep = 4,
                        .adapter = "all"};
  Generator generator(*company.single.model);
  generator.shift_context(4);
  generator.set_adapter(tiny_adapter(*company.single.model, kName, "all"));
  const Generated want = generator.generate(request.prompt, request.params).value();
  EXPECT_EQ(want.tokens.size(), 300u);
  EXPECT_EQ(company.answer(request).tokens, want.tokens);
}

TEST(AdapterRequests, names_and_numbers_of_adapters_are_checked) {
  Company company({.max_adapters = 4});
  const std::string path = tiny_adapter_path(kName, "plain");
  const auto load = [&](const std::string& name, const std::string& from) {
    return company.executor->load_adapter(name, {{from}});
  };
  EXPECT_THAT(load("plain", path).message(), HasSubstr("there is an adapter 'plain' already"));
  EXPECT_THAT(load("", path).message(), HasSubstr("the adapter's name has 0 bytes"));
  EXPECT_THAT(load("a\nb", path).message(), HasSubstr("control characters"));
  EXPECT_THAT(load("other", path + "/x").message(), HasSubstr("plain/x"));
  EXPECT_TRUE(load("../../etc", path).is_ok()) << "a name is a name, not a path";
  EXPECT_EQ(load("fifth", path).code(), StatusCode::kExhausted);
  EXPECT_EQ(company.executor->unload_adapter("none").code(), StatusCode::kNotFound);
  std::vector<std::string> names;
  for (const AdapterPtr& adapter : company.executor->adapters()) names.push_back(adapter->name);
  EXPECT_THAT(names, ElementsAre("../../etc", "all", "mlp", "plain"));
  const Status unknown =
      company.executor->enqueue({.prompt = {30}, .adapter = "none"}, [](Output&&) { ADD_FAILURE(); }).status();
  EXPECT_EQ(unknown.code(), StatusCode::kNotFound);
  EXPECT_THAT(unknown.message(), HasSubstr("those loaded are ../../etc, all, mlp, plain"));
}

TEST(AdapterRequests, come_and_go_while_others_are_answered) {
  Company company({.max_sequences = 6, .step_tokens = 24});
  std::atomic<bool> is_over{false};
  std::thread loader([&] {
    for (int i = 0; !is_over; ++i) {
      EXPECT_TRUE(company.executor->load_adapter("guest", {{tiny_adapter_path(kName, kTinyAdapters[i % 3])}}).is_ok());
      (void)company.executor->enqueue({.prompt = {30, 31, 32}, .params = {.max_tokens = 4}, .adapter = "guest"}, {});
      EXPECT_TRUE(company.executor->unload_adapter("guest").is_ok());
    }
  });
  expect_company_changes_nothing(company, 40, 7);
  is_over = true;
  loader.join();
  EXPECT_TRUE(company.executor->drain(int64_t{600} * 1'000'000).is_ok());
  EXPECT_EQ(company.executor->stats().pages_used, 0) << "pages were leaked";
  EXPECT_EQ(company.executor->stats().requests_failed, 0);
}

}  // namespace
}  // namespace nereid::llm
