// SPDX-License-Identifier: Apache-2.0
#include "base/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "base/test_dir.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

// What `body` says when it runs in a process of its own: its exit code, or -signal.
template <typename F>
int in_child(F body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int state = 0;
  ::waitpid(pid, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

TEST(AtomicFile, nothing_is_seen_before_commit_and_everything_after) {
  const TestDir dir;
  auto file = AtomicFile::create(dir / "a").value();
  ASSERT_TRUE(file.write("head").is_ok());
  ASSERT_TRUE(file.write("-tail").is_ok());
  ASSERT_TRUE(file.write_at(0, std::as_bytes(std::span("HE", 2))).is_ok());
  EXPECT_EQ(file.size(), 9);
  EXPECT_FALSE(file_info(dir / "a").is_ok());
  ASSERT_TRUE(file.commit().is_ok());
  EXPECT_EQ(read_file(dir / "a", 99).value(), "HEad-tail");
  EXPECT_EQ(dir.files(), 1);
}

TEST(AtomicFile, without_commit_the_old_content_stays_and_no_temporary_is_left) {
  const TestDir dir;
  {
    auto first = AtomicFile::create(dir / "a").value();
    ASSERT_TRUE(first.write("old").is_ok());
    ASSERT_TRUE(first.commit().is_ok());
    auto second = AtomicFile::create(dir / "a").value();
    ASSERT_TRUE(second.write("new").is_ok());
    EXPECT_EQ(dir.files(), 2);
  }
  EXPECT_EQ(read_file(dir / "a", 99).value(), "old");
  EXPECT_EQ(dir.files(), 1);
}

TEST(AtomicFile, permissions_and_links_of_a_replaced_file_are_kept) {
  const TestDir dir;
  ASSERT_TRUE(AtomicFile::create(dir / "a").value().commit().is_ok());
  ASSERT_EQ(::chmod((dir / "a").c_str(), 0606), 0);
  ASSERT_EQ(::symlink((dir / "a").c_str(), (dir / "link").c_str()), 0);
  auto file = AtomicFile::create(dir / "link").value();
  ASSERT_TRUE(file.write("x").is_ok());
  ASSERT_TRUE(file.commit().is_ok());
  EXPECT_EQ(read_file(dir / "a", 9).value(), "x");
  EXPECT_EQ(file_info(dir / "a").value().permissions, 0606u);
}

TEST(AtomicFile, a_place_that_cannot_be_written_is_a_sentence) {
  const TestDir dir;
  EXPECT_EQ(AtomicFile::create(dir / "absent/a").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(AtomicFile::create(dir.path()).status().message(), HasSubstr("it is a folder"));
  EXPECT_FALSE(AtomicFile::create("").is_ok());
}

TEST(AtomicFile, a_full_disk_is_exhausted_with_path_and_bytes) {
  const TestDir dir;
  const int code = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto file = AtomicFile::create(dir / "a").value();
    const Status s = file.write(std::string(4000, 'x'));
    const bool said = s.message().find("write 3000 bytes at byte 1000 of") != std::string::npos &&
                      s.message().find(dir / "a") != std::string::npos;
    return s.code() == StatusCode::kExhausted && said ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(dir.files(), 0);
}

TEST(Interrupt, the_first_signal_only_sets_the_flag) {
  EXPECT_EQ(in_child([] {
              install_interrupt_handler();
              if (interrupted()) return 1;
              ::raise(SIGINT);
              return interrupted() && check_interrupted().code() == StatusCode::kCancelled ? 7 : 2;
            }),
            7);
}

TEST(Interrupt, the_second_signal_ends_the_process_and_removes_half_written_files) {
  const TestDir dir;
  const int code = in_child([&] {
    install_interrupt_handler();
    auto done = AtomicFile::create(dir / "done").value();
    if (!done.commit().is_ok()) return 1;
    const auto half = AtomicFile::create(dir / "half").value();
    ::raise(SIGTERM);
    ::raise(SIGINT);
    return 2;
  });
  EXPECT_EQ(code, 130);
  EXPECT_EQ(dir.files(), 1);
  EXPECT_TRUE(file_info(dir / "done").is_ok());
}

TEST(Interrupt, more_temporaries_than_slots_are_simply_not_registered) {
  std::vector<TempPath> paths;
  for (int i = 0; i < TempPath::kMaxTempPaths + 10; ++i) paths.emplace_back(fmt::format("x{}", i));
  EXPECT_EQ(paths.back().path(), "x73");
}

}  // namespace
}  // namespace nereid
