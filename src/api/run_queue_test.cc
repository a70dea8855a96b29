// SPDX-License-Identifier: Apache-2.0
// Asynchronous runs: their order, their bindings, cancelling, closing, and a context that two threads use.
#include <atomic>
#include <thread>

#include "api/test_model.h"
#include "base/test_allocations.h"

namespace nereid::api::testing {
namespace {

// A callback that holds the queue until it is let go, so that tests decide what happens while a run is not over.
struct Gate {
  std::atomic<bool> reached = false, open = false;
  static void hold(void* user, nereid_context*, nereid_run_id, nereid_status, const char*) {
    auto& gate = *static_cast<Gate*>(user);
    gate.reached = true;
    gate.reached.notify_all();
    gate.open.wait(false);
  }
  void wait_until_reached() { reached.wait(false); }
  void let_go() {
    open = true;
    open.notify_all();
  }
};

struct Ended {
  std::vector<nereid_run_id> ids;
  std::vector<nereid_status> codes;
  std::vector<float> firsts;  // the first element of each output
  static void note(void* user, nereid_context* context, nereid_run_id id, nereid_status status, const char* error) {
    auto& ended = *static_cast<Ended*>(user);
    ended.ids.push_back(id);
    ended.codes.push_back(status);
    EXPECT_EQ(*error == 0, status == NEREID_OK);
    nereid_tensor y{};
    if (status == NEREID_OK && nereid_context_output(context, 0, &y) == NEREID_OK)
      ended.firsts.push_back(*static_cast<const float*>(y.data));
  }
};

class ApiQueue : public ::testing::Test {
 protected:
  // y = x + x.
  Opened o_{TestModel().input("x", {-1}).node("Add", {"x", "x"}, {"y"}).output("y", {-1})};
  const std::vector<int64_t> dims_ = {1};
  void set(const std::vector<float>& x) {
    const nereid_tensor t = tensor(x, dims_);
    ASSERT_EQ(nereid_context_set_input(o_.context, 0, &t), NEREID_OK) << nereid_last_error();
  }
  nereid_run_id push(nereid_done_fn done, void* user) {
    nereid_run_id id = 0;
    EXPECT_EQ(nereid_context_run_async(o_.context, done, user, &id), NEREID_OK) << nereid_last_error();
    return id;
  }
};

TEST_F(ApiQueue, runs_end_in_order_each_with_the_bindings_it_was_given) {
  Ended ended;
  std::vector<std::vector<float>> x(20), y(20);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = {static_cast<float>(i)};
    y[i] = {-1};
    set(x[i]);
    ASSERT_EQ(nereid_context_bind_output(o_.context, 0, y[i].data(), 4), NEREID_OK);
    EXPECT_EQ(push(&Ended::note, &ended), i + 1);
  }
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
  ASSERT_EQ(ended.ids.size(), 20U);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(ended.ids[i], i + 1);
    EXPECT_EQ(y[i][0], 2 * x[i][0]);
    EXPECT_EQ(ended.firsts[i], 2 * x[i][0]);
    EXPECT_EQ(nereid_context_poll(o_.context, i + 1), NEREID_OK);
  }
}

TEST_F(ApiQueue, a_run_that_fails_says_so_to_its_callback_and_to_who_waits) {
  Ended ended;
  const std::vector<float> x = {1};
  std::vector<float> y = {0};
  set(x);
  ASSERT_EQ(nereid_context_bind_output(o_.context, 0, y.data(), 2), NEREID_OK);
  const nereid_run_id id = push(&Ended::note, &ended);
  EXPECT_EQ(nereid_context_wait(o_.context, id, -1), NEREID_INVALID_ARGUMENT);
  EXPECT_NE(std::string(nereid_last_error()).find("takes 4 bytes"), std::string::npos);
  EXPECT_EQ(ended.codes, (std::vector<nereid_status>{NEREID_INVALID_ARGUMENT}));
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
}

TEST_F(ApiQueue, what_waits_can_be_cancelled_and_is_still_told) {
  Gate gate;
  Ended ended;
  const std::vector<float> x = {1};
  set(x);
  const nereid_run_id first = push(&Gate::hold, &gate);
  const nereid_run_id second = push(&Ended::note, &ended), third = push(&Ended::note, &ended);
  gate.wait_until_reached();
  EXPECT_EQ(nereid_context_poll(o_.context, second), NEREID_UNAVAILABLE);
  EXPECT_EQ(nereid_context_wait(o_.context, second, 1), NEREID_UNAVAILABLE);
  EXPECT_EQ(nereid_context_cancel(o_.context, second), NEREID_OK);
  gate.let_go();
  EXPECT_EQ(nereid_context_wait(o_.context, second, -1), NEREID_CANCELLED);
  EXPECT_EQ(nereid_context_wait(o_.context, third, -1), NEREID_OK);
  EXPECT_EQ(ended.codes, (std::vector<nereid_status>{NEREID_CANCELLED, NEREID_OK}));
  EXPECT_EQ(nereid_context_cancel(o_.context, first), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid_context_cancel(o_.context, 99), NEREID_NOT_FOUND);
}

TEST_F(ApiQueue, a_queue_takes_so_many_and_forgets_old_results) {
  nereid_context_options options = NEREID_CONTEXT_OPTIONS_INIT;
  options.queue_depth = 2;
  nereid_context_close(&o_.context);
  ASSERT_EQ(nereid_context_create(o_.engine, &options, &o_.context), NEREID_OK);
  Gate gate;
  const std::vector<float> x = {1};
  set(x);
  const nereid_run_id first = push(&Gate::hold, &gate);
  (void)push(nullptr, nullptr);
  EXPECT_EQ(nereid_context_run_async(o_.context, nullptr, nullptr, nullptr), NEREID_EXHAUSTED);
  gate.let_go();
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
  EXPECT_EQ(nereid_context_poll(o_.context, first), NEREID_OK);
  (void)push(nullptr, nullptr);
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
  EXPECT_EQ(nereid_context_poll(o_.context, first), NEREID_NOT_FOUND);
  EXPECT_EQ(nereid_context_wait(o_.context, 4, 0), NEREID_NOT_FOUND);
}

TEST_F(ApiQueue, while_runs_wait_the_context_runs_nothing_else) {
  Gate gate;
  const std::vector<float> x = {1};
  set(x);
  (void)push(&Gate::hold, &gate);
  gate.wait_until_reached();
  nereid_tensor y{};
  EXPECT_EQ(nereid_context_run(o_.context), NEREID_UNAVAILABLE);
  EXPECT_EQ(nereid_context_output(o_.context, 0, &y), NEREID_UNAVAILABLE);
  set(x);  // for a next one
  gate.let_go();
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o_.context), NEREID_OK);
}

TEST_F(ApiQueue, a_callback_enqueues_the_next_but_neither_waits_nor_closes) {
  struct Chain {
    std::vector<float> x = {1};
    int left = 5;
    static void next(void* user, nereid_context* context, nereid_run_id id, nereid_status, const char*) {
      auto& chain = *static_cast<Chain*>(user);
      EXPECT_EQ(nereid_context_wait(context, id, -1), NEREID_INVALID_ARGUMENT);
      nereid_context* handle = context;
      EXPECT_EQ(nereid_context_close(&handle), NEREID_INVALID_ARGUMENT);
      EXPECT_EQ(handle, context);
      if (chain.left-- == 0) return;
      nereid_tensor y{};
      EXPECT_EQ(nereid_context_output(context, 0, &y), NEREID_OK);
      chain.x[0] = *static_cast<const float*>(y.data);
      EXPECT_EQ(nereid_context_run_async(context, &Chain::next, user, nullptr), NEREID_OK);
    }
  } chain;
  set(chain.x);
  (void)push(&Chain::next, &chain);
  EXPECT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
  EXPECT_EQ(chain.x[0], 32);
}

TEST_F(ApiQueue, closing_cancels_what_waits_and_tells_it) {
  Gate gate;
  Ended ended;
  const std::vector<float> x = {1};
  set(x);
  (void)push(&Gate::hold, &gate);
  (void)push(&Ended::note, &ended);
  gate.wait_until_reached();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.let_go();
  });
  EXPECT_EQ(nereid_context_close(&o_.context), NEREID_OK);
  EXPECT_EQ(ended.codes, (std::vector<nereid_status>{NEREID_CANCELLED}));
  opener.join();
}

TEST_F(ApiQueue, a_second_thread_on_a_context_is_told) {
  // The profile's function runs inside of a call on the context: another call meets it there.
  const std::vector<float> x = {1};
  set(x);
  ASSERT_EQ(nereid_context_set_profiling(o_.context, 1), NEREID_OK);
  ASSERT_EQ(nereid_context_run(o_.context), NEREID_OK);
  const auto meet = [](void* user, const nereid_layer_time*) {
    std::thread([user] {
      EXPECT_EQ(nereid_context_run(static_cast<nereid_context*>(user)), NEREID_UNAVAILABLE);
      EXPECT_NE(std::string(nereid_last_error()).find("one thread at a time"), std::string::npos);
    }).join();
  };
  EXPECT_EQ(nereid_context_profile(o_.context, meet, o_.context), NEREID_OK);
  EXPECT_EQ(nereid_context_run(o_.context), NEREID_OK);
}

TEST_F(ApiQueue, asynchronous_runs_allocate_nothing_once_every_place_of_the_queue_was_used) {
  const std::vector<float> x = {1};
  set(x);
  const auto some = [&](int n) {
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(nereid_context_run_async(o_.context, nullptr, nullptr, nullptr), NEREID_OK);
      ASSERT_EQ(nereid_context_wait(o_.context, 0, -1), NEREID_OK);
    }
  };
  some(65);
  const int64_t before = allocation_count();
  some(200);
  EXPECT_EQ(allocation_count() - before, 0);
}

}  // namespace
}  // namespace nereid::api::testing
