// SPDX-License-Identifier: Apache-2.0
// Where keys and values lie changes no answer: in 8 bits, moved out of the cache and back, or lost on the way.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::expect_same;
using ::testing::HasSubstr;
using testing::Listener;
using testing::TinyModel;
using testing::Told;

constexpr const char* kName = "tiny-qwen3";

std::vector<int32_t> some_tokens(uint32_t seed, size_t n) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(n);
  for (int32_t& t : tokens) t = static_cast<int32_t>(random() % 200) + 20;
  return tokens;
}

Told ask(Executor& executor, Request request) {
  Listener listener;
  const auto id = executor.enqueue(std::move(request), listener.callback());
  EXPECT_TRUE(id.is_ok()) << id.status().message();
  listener.wait();
  return listener.told();
}

Request request_of(uint32_t seed, size_t prompt) {
  return {.prompt = some_tokens(seed, prompt), .params = {.logprobs = 3, .max_tokens = 6, .ignore_eos = 1}};
}

void expect_equal_bits(const Told& a, const Told& b) {
  EXPECT_EQ(a.tokens, b.tokens);
  ASSERT_EQ(a.samples.size(), b.samples.size());
  for (size_t i = 0; i < a.samples.size(); ++i) EXPECT_EQ(a.samples[i].logprob, b.samples[i].logprob) << i;
}

// Eight pages: three prompts do not fit beside each other.
ExecutorOptions small_cache(const TestDir& dir) {
  return {.max_sequences = 2,
          .step_tokens = 64,
          .cache_tokens = 8 * 32,
          .page_tokens = 32,
          .host_memory_bytes = 1 << 20,
          .host_folder = dir.path()};
}

TEST(ExecutorMemory, a_prefix_that_had_to_leave_comes_back_bit_for_bit) {
  const TestDir dir;
  for (const char* type : {"f16", "int8"}) {
    const ExecutorOptions options = small_cache(dir);
    LoadOptions load = load_options(options);
    load.kv_types = KvTypes::parse(type).value();
    TinyModel tiny(kName, load, 2);
    const auto executor = Executor::start(*tiny.model, options).value();
    const Told first = ask(*executor, request_of(1, 100));
    for (uint32_t other : {2U, 3U}) ask(*executor, request_of(other, 200));
    EXPECT_GT(executor->stats().pages_offloaded, 0) << type;
    EXPECT_EQ(executor->stats().pages_restored, 0) << type;
    const Told again = ask(*executor, request_of(1, 100));
    EXPECT_GE(again.last.reused_tokens, 96) << type;
    EXPECT_GT(executor->stats().pages_restored, 0) << type;
    expect_equal_bits(again, first);
  }
}

TEST(ExecutorMemory, without_host_memory_what_leaves_is_computed_again) {
  const TestDir dir;
  ExecutorOptions options = small_cache(dir);
  options.host_memory_bytes = 0;
  TinyModel tiny(kName, load_options(options), 2);
  const auto executor = Executor::start(*tiny.model, options).value();
  const Told first = ask(*executor, request_of(1, 100));
  for (uint32_t other : {2U, 3U}) ask(*executor, request_of(other, 200));
  const Told again = ask(*executor, request_of(1, 100));
  EXPECT_EQ(again.last.reused_tokens, 0);
  expect_equal_bits(again, first);
}

TEST(ExecutorMemory, host_memory_that_cannot_be_had_is_refused) {
  const TestDir dir;
  ExecutorOptions options = small_cache(dir);
  options.host_folder = dir / "missing";
  TinyModel tiny(kName, load_options(options));
  EXPECT_EQ(Executor::start(*tiny.model, options).status().code(), StatusCode::kNotFound);
}

// The executor's own file, which no folder lists, by its descriptor.
void cut_host_file(const std::string& folder) {
  DIR* open = ::opendir("/proc/self/fd");
  ASSERT_NE(open, nullptr);
  int cut = 0;
  while (const dirent* entry = ::readdir(open)) {
    char target[512] = {};
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    if (::readlink(link.c_str(), target, sizeof(target) - 1) > 0 && std::string(target).starts_with(folder + "/"))
      cut += ::ftruncate(std::stoi(entry->d_name), 0) == 0;
  }
  ::closedir(open);
  ASSERT_EQ(cut, 1);
}

TEST(ExecutorMemory, a_page_that_is_lost_ends_who_wanted_it_and_nobody_finds_it_later) {
  const TestDir dir;
  const ExecutorOptions options = small_cache(dir);
  TinyModel tiny(kName, load_options(options), 2);
  const auto executor = Executor::start(*tiny.model, options).value();
  const Told first = ask(*executor, request_of(1, 100));
  for (uint32_t other : {2U, 3U}) ask(*executor, request_of(other, 200));
  cut_host_file(dir.path());
  EXPECT_THAT(ask(*executor, request_of(1, 100)).last.status.message(), HasSubstr("came back other than it was"));
  EXPECT_EQ(executor->stats().pages_used, 0);
  const Told again = ask(*executor, request_of(1, 100));
  EXPECT_EQ(again.last.reused_tokens, 0);
  expect_equal_bits(again, first);
}

TEST(ExecutorMemory, answers_over_a_cache_of_8_bits_are_the_same_in_company_and_alone) {
  const ExecutorOptions options{.max_sequences = 8, .step_tokens = 48, .cache_tokens = 24 * 32};
  LoadOptions load = load_options(options), single;
  load.kv_types = single.kv_types = KvTypes::parse("int8,1=fp8").value();
  TinyModel tiny(kName, load, 2), other(kName, single);
  EXPECT_EQ(tiny.model->cache_type(), "mixed");
  const auto executor = Executor::start(*tiny.model, options).value();
  std::vector<std::unique_ptr<Listener>> listeners;
  for (uint32_t i = 0; i < 12; ++i) {
    listeners.push_back(std::make_unique<Listener>());
    ASSERT_TRUE(executor->enqueue(request_of(i % 9, 20 + 13 * (i % 9)), listeners.back()->callback()).is_ok());
  }
  for (uint32_t i = 0; i < 12; ++i) {
    listeners[i]->wait();
    expect_same(listeners[i]->told(), testing::alone(*other.model, request_of(i % 9, 20 + 13 * (i % 9))),
                std::to_string(i));
  }
}

}  // namespace
}  // namespace nereid::llm
