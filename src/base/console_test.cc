// SPDX-License-Identifier: Apache-2.0
#include "base/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "base/progress.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What has been written to a descriptor: a pipe that is read after the fact (64 KiB at most).
class Captured {
 public:
  Captured() { NEREID_CHECK(::pipe(ends_) == 0); }
  ~Captured() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int fd() const { return ends_[1]; }
  std::string take() {
    NEREID_CHECK(::write(ends_[1], "\0", 1) == 1);
    std::string text;
    for (char c = 0; ::read(ends_[0], &c, 1) == 1 && c != '\0';) text += c;
    return text;
  }

 private:
  int ends_[2];
};

TEST(Console, a_line_says_who_speaks_and_how_serious_it_is) {
  Captured out;
  Console console(out.fd(), {.level = LogLevel::debug});
  console.line(LogLevel::error, "e");
  console.line(LogLevel::warn, "w");
  console.line(LogLevel::info, "i");
  console.line(LogLevel::debug, "d");
  EXPECT_EQ(out.take(), "nereid: error: e\nnereid: warning: w\nnereid: i\nnereid: debug: d\n");
}

TEST(Console, what_a_line_quotes_cannot_pretend_to_be_another) {
  Captured out;
  Console console(out.fd(), {});
  console.line(LogLevel::warn, "no model 'a\nnereid: error: all is lost\r'\n\n");
  EXPECT_EQ(out.take(), "nereid: warning: no model 'a\n  nereid: error: all is lost?'\n");
}

TEST(Console, what_is_below_the_level_is_not_written) {
  Captured out;
  Console console(out.fd(), {.level = LogLevel::warn});
  console.line(LogLevel::info, "i");
  console.line(LogLevel::warn, "w");
  console.set_level(LogLevel::error);
  console.line(LogLevel::warn, "w");
  EXPECT_EQ(out.take(), "nereid: warning: w\n");
}

TEST(Console, a_warning_with_a_key_is_said_once) {
  Captured out;
  Console console(out.fd(), {});
  for (int i = 0; i < 3; ++i) console.warn_once("k", "slow");
  console.warn_once("l", "other");
  EXPECT_EQ(out.take(), "nereid: warning: slow\nnereid: warning: other\n");
}

TEST(Console, control_bytes_do_not_reach_the_terminal) {
  Captured out;
  Console console(out.fd(), {});
  console.line(LogLevel::info, "a\x1b[2Jb\r\x7f");
  EXPECT_EQ(out.take(), "nereid: a?[2Jb??\n");
}

TEST(Console, colours_mark_only_the_label) {
  Captured out;
  Console console(out.fd(), {.terminal = true, .colors = true});
  console.line(LogLevel::warn, "w");
  EXPECT_EQ(out.take(), "nereid: \x1b[1;33mwarning: \x1b[0mw\n");
}

TEST(Console, a_line_goes_above_the_status_line) {
  Captured out;
  {
    Console console(out.fd(), {.terminal = true});
    console.status("50 %");
    console.line(LogLevel::info, "hello");
    console.status("50 %");
  }
  EXPECT_EQ(out.take(), "\r\x1b[K50 %\r\x1b[Knereid: hello\n50 %\r\x1b[K");
}

TEST(Console, level_names_are_understood) {
  EXPECT_EQ(log_level_from_name("warn"), LogLevel::warn);
  EXPECT_FALSE(log_level_from_name("WARN").has_value());
}

TEST(Log, the_environment_sets_the_level_of_standard_error) {
  Captured out;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("NEREID_LOG", "warn", 1);
    ::dup2(out.fd(), STDERR_FILENO);
    log_info("{} is not shown", 1);
    log_error("{} of {}", 1, 2);
    warn_once("k", "once");
    warn_once("k", "once");
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(out.take(), "nereid: error: 1 of 2\nnereid: warning: once\n");
}

TEST(Log, an_unknown_level_is_said_and_ignored) {
  Captured out;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("NEREID_LOG", "loud", 1);
    ::dup2(out.fd(), STDERR_FILENO);
    log_info("shown");
    ::_exit(0);
  }
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(out.take(),
            "nereid: warning: expected NEREID_LOG to be error, warn, info or debug, found 'loud'; going on with info\n"
            "nereid: shown\n");
}

constexpr int64_t kSecond = 1'000'000'000;

TEST(Progress, elsewhere_than_on_a_terminal_each_tenth_is_a_line) {
  Captured out;
  Console console(out.fd(), {});
  VirtualClock clock;
  {
    Progress progress({.what = "packing", .total = 100}, console, clock);
    for (int i = 0; i < 100; ++i) {
      clock.advance(kSecond);
      progress.add(1);
    }
    progress.finish();
    progress.finish();
  }
  const std::string text = out.take();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 10) << text;
  EXPECT_THAT(text, HasSubstr("nereid: packing: 30 %, 30 of 100, 1.0/s, 1 min 10 s left\n"));
  EXPECT_THAT(text, HasSubstr("nereid: packing: done, 100 in 1 min 40 s\n"));
}

TEST(Progress, a_terminal_is_redrawn_at_most_ten_times_a_second) {
  Captured out;
  Console console(out.fd(), {.terminal = true});
  VirtualClock clock;
  Progress progress({.what = "packing", .total = 2000 << 10, .unit = Progress::Unit::bytes}, console, clock);
  for (int i = 0; i < 2000; ++i) {
    clock.advance(1'000'000);
    progress.add(1 << 10);
  }
  const std::string text = out.take();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 20) << text;
  EXPECT_THAT(text, HasSubstr("\x1b[Kpacking [======>      ]   50 %  1000.0 KiB of 2.0 MiB, 1000.0 KiB/s, 1.0 s left"))
      << text;
}

TEST(Progress, without_finish_the_bar_goes_away_and_nothing_is_claimed) {
  Captured out;
  Console console(out.fd(), {.terminal = true});
  VirtualClock clock;
  {
    Progress progress({.what = "packing", .total = 2}, console, clock);
    clock.advance(kSecond);
    progress.add(1);
  }
  const std::string text = out.take();
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
  EXPECT_THAT(text, Not(HasSubstr("done")));
}

TEST(Progress, an_unknown_total_is_counted_and_silence_is_kept) {
  Captured out;
  Console console(out.fd(), {});
  VirtualClock clock;
  Progress counted({.what = "reading"}, console, clock);
  Progress silent({.what = "packing", .total = 1, .silent = true}, console, clock);
  clock.advance(20 * kSecond);
  counted.set(5);
  silent.add(1);
  silent.finish();
  EXPECT_EQ(out.take(), "nereid: reading: 5, 0.2/s\n");
}

TEST(Progress, many_threads_may_add) {
  Captured out;
  Console console(out.fd(), {});
  const SystemClock clock;
  Progress progress({.what = "x", .total = 40'000}, console, clock);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) progress.add(1);
    });
  for (std::thread& t : threads) t.join();
  progress.finish();
  EXPECT_THAT(out.take(), HasSubstr("x: done, 40000 in "));
}

TEST(Progress, figures_are_short) {
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(int64_t{13'207'024'435}), "12.3 GiB");
  EXPECT_EQ(format_bytes((int64_t{1} << 20) - 1), "1.0 MiB");
  EXPECT_EQ(format_duration(420'000'000), "0.4 s");
  EXPECT_EQ(format_duration(12 * kSecond), "12 s");
  EXPECT_EQ(format_duration(185 * kSecond), "3 min 05 s");
  EXPECT_EQ(format_duration(7'380 * kSecond), "2 h 03 min");
}

}  // namespace
}  // namespace nereid
