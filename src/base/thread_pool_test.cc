// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "base/cpu_limits.h"

namespace nereid {
namespace {

// Fewer, as many and more threads than most test machines have CPUs.
class ThreadPoolOfSize : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolOfSize, ::testing::Values(1, 2, 3, 4, 9));

TEST_P(ThreadPoolOfSize, every_worker_runs_the_body_exactly_once_a_run) {
  ThreadPool pool({.threads = GetParam()});
  ASSERT_EQ(pool.size(), GetParam());
  std::vector<int> calls(static_cast<size_t>(pool.size()));
  for (int i = 0; i < 200; ++i) pool.run([&](Worker& w) { ++calls[static_cast<size_t>(w.index())]; });
  EXPECT_EQ(calls, std::vector<int>(calls.size(), 200));
}

TEST_P(ThreadPoolOfSize, after_a_barrier_everyone_sees_what_everyone_wrote) {
  ThreadPool pool({.threads = GetParam()});
  const auto n = static_cast<size_t>(pool.size());
  std::vector<int64_t> now(n), sums(n);
  pool.run([&](Worker& w) {
    const auto me = static_cast<size_t>(w.index());
    for (int64_t round = 0; round < 300; ++round) {
      now[me] = round;
      w.barrier();
      for (const int64_t v : now) sums[me] += v == round;
      w.barrier();
    }
  });
  EXPECT_EQ(sums, std::vector<int64_t>(n, static_cast<int64_t>(300 * n)));
}

TEST_P(ThreadPoolOfSize, runs_see_the_caller_and_the_caller_sees_runs) {
  ThreadPool pool({.threads = GetParam()});
  std::vector<int64_t> values(1000);
  for (int round = 0; round < 50; ++round) {
    std::iota(values.begin(), values.end(), round);
    pool.run([&](Worker& w) {
      const auto [begin, end] = w.slice(static_cast<int64_t>(values.size()));
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] *= 2;
    });
    ASSERT_EQ(std::accumulate(values.begin(), values.end(), int64_t{0}), 2 * (999 * 500 + 1000 * round));
  }
}

TEST_P(ThreadPoolOfSize, a_pool_that_has_gone_to_sleep_wakes_up) {
  ThreadPool pool({.threads = GetParam()});
  std::atomic<int> calls{0};
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    pool.run([&](Worker& w) {
      // Unequal work, so that barrier and join are slept through as well.
      if (w.index() == i % w.count()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      w.barrier();
      if (w.index() == w.count() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      ++calls;
    });
  }
  EXPECT_EQ(calls, 3 * pool.size());
}

TEST(ThreadPool, slices_cover_everything_once_in_order_and_begin_aligned) {
  ThreadPool pool({.threads = 3});
  for (const int64_t n : {0, 1, 2, 3, 7, 12, 100})
    for (const int64_t align : {1, 4, 32}) {
      std::vector<std::pair<int64_t, int64_t>> parts(3);
      pool.run([&](Worker& w) { parts[static_cast<size_t>(w.index())] = w.slice(n, align); });
      int64_t at = 0;
      for (const auto& [begin, end] : parts) {
        ASSERT_EQ(begin, at) << n << " " << align;
        ASSERT_TRUE(begin % align == 0 || begin == n);
        at = end;
      }
      ASSERT_EQ(at, n);
    }
}

TEST(ThreadPool, slices_of_a_huge_range_do_not_overflow) {
  ThreadPool pool({.threads = 3});
  std::atomic<bool> ends{false};
  pool.run([&](Worker& w) {
    const auto [begin, end] = w.slice(std::numeric_limits<int64_t>::max(), 64);
    if (begin < 0 || begin >= end) std::abort();
    if (w.index() == 2) ends = end == std::numeric_limits<int64_t>::max();
  });
  EXPECT_TRUE(ends);
}

TEST(ThreadPool, the_default_size_is_the_usable_cpus) {
  EXPECT_EQ(ThreadPool().size(), usable_cpus());
}

TEST(ThreadPool, an_idle_pool_uses_no_cpu_time) {
  ThreadPool pool({.threads = 2});
  pool.run([](Worker&) {});
  const auto cpu_ms = [] {
    rusage u;
    ::getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000;
  };
  const auto before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(cpu_ms() - before, 20);
}

TEST(ThreadPool, a_run_within_a_run_is_a_defect_that_is_caught) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPool pool({.threads = 2});
        pool.run([&](Worker& w) {
          if (w.index() == 0) pool.run([](Worker&) {});
        });
      },
      "running");
}

TEST(FunctionRef, calls_what_it_refers_to) {
  int sum = 0;
  const auto add = [&sum](int x) { return sum += x; };
  const FunctionRef<int(int)> f = add;
  f(2);
  EXPECT_EQ(f(3), 5);
}

}  // namespace
}  // namespace nereid
