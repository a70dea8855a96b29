// SPDX-License-Identifier: Apache-2.0
// A step that fails ends those who were in it, each with its sentence, and nobody else.
#include "llm/run/step_loop.h"

#include <gmock/gmock.h>

#include "llm/run/test_executor.h"
#include "llm/run/tiny_model.h"

namespace nereid::llm {
namespace {

using testing::alone;
using testing::expect_same;
using ::testing::HasSubstr;
using testing::Listener;
using testing::TinyModel;

struct Steps {
  explicit Steps(const ExecutorOptions& options)
      : model("tiny-qwen3", load_options(options)), loop(StepLoop::make(*model.model, options).value()) {}
  std::unique_ptr<ActiveRequest> make(const Request& request, Listener& listener) {
    auto made = ActiveRequest::make(*model.model, adapters, loop->longest_sequence(), request, listener.callback());
    EXPECT_TRUE(made.is_ok());
    made.value()->id = {++last_id};
    return std::move(made).value();
  }
  void run() {
    while (loop->has_work()) {
      loop->step();
      loop->deliver();
    }
  }
  TinyModel model;
  AdapterSet adapters{1};
  std::unique_ptr<StepLoop> loop;
  uint64_t last_id = 0;
};

TEST(StepLoop, a_step_that_fails_ends_those_in_it_and_nobody_else) {
  // Two run at a time; the third waits.
  Steps steps({.max_sequences = 2, .cache_tokens = 512});
  const Request good{.prompt = {30, 31, 32}, .params = {.max_tokens = 6, .ignore_eos = 1}};
  Listener beside, fails, after;
  steps.loop->add(steps.make(good, beside));
  auto foreign = steps.make(good, fails);
  foreign->request.prompt[1] = 1'000'000;  // no caller gets such a token this far: the model itself refuses it
  steps.loop->add(std::move(foreign));
  steps.loop->add(steps.make(good, after));
  steps.run();
  for (Listener* listener : {&beside, &fails}) {
    ASSERT_TRUE(listener->told().last.is_last);
    EXPECT_THAT(listener->told().last.status.message(), HasSubstr("1000000"));
  }
  TinyModel single("tiny-qwen3");
  expect_same(after.told(), alone(*single.model, good), "the one after them");
  const ExecutorStats stats = steps.loop->stats();
  EXPECT_EQ(stats.requests_failed, 2);
  EXPECT_EQ(stats.requests_done, 1);
  EXPECT_EQ(stats.pages_used, 0);
}

TEST(StepLoop, what_was_drawn_before_the_step_failed_is_told) {
  Steps steps({.max_sequences = 2, .cache_tokens = 512});
  const Request good{.prompt = {30, 31, 32}, .params = {.max_tokens = 6, .ignore_eos = 1}};
  Listener first, fails;
  steps.loop->add(steps.make(good, first));
  ASSERT_TRUE(steps.loop->step());
  steps.loop->deliver();
  const size_t before = first.told().tokens.size();
  EXPECT_EQ(before, 1u);
  auto foreign = steps.make(good, fails);
  foreign->request.prompt[0] = -1;
  steps.loop->add(std::move(foreign));
  steps.run();
  EXPECT_FALSE(first.told().last.status.is_ok());
  EXPECT_GE(first.told().tokens.size(), before);
  EXPECT_FALSE(fails.told().last.status.is_ok());
  EXPECT_EQ(fails.told().tokens.size(), 0u);
}

}  // namespace
}  // namespace nereid::llm
