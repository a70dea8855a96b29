// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "base/mapped_file.h"
#include "base/test_dir.h"

namespace nereid {
namespace {

using ::testing::HasSubstr;

std::string make(const TestDir& dir, const std::string& name, std::string_view text) {
  std::ofstream(dir / name, std::ios::binary) << text;
  return dir / name;
}

TEST(File, a_small_file_is_read_whole) {
  const TestDir dir;
  EXPECT_EQ(read_file(make(dir, "a", std::string_view("x\0y", 3)), 3).value(), std::string("x\0y", 3));
  EXPECT_EQ(read_file(make(dir, "empty", ""), 0).value(), "");
}

TEST(File, a_file_longer_than_allowed_is_refused_with_both_sizes) {
  const TestDir dir;
  const auto r = read_file(make(dir, "a", "12345"), 4);
  EXPECT_EQ(r.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(r.status().message(), HasSubstr("is 5 bytes long; expected at most 4"));
}

TEST(File, files_without_a_size_in_advance_are_read) {
  EXPECT_THAT(read_file("/proc/self/status", 1 << 20).value(), HasSubstr("Name:"));
  EXPECT_EQ(read_file("/proc/self/status", 10).status().code(), StatusCode::kInvalidArgument);
}

TEST(File, what_is_not_a_regular_file_is_a_sentence) {
  const TestDir dir;
  EXPECT_EQ(read_file(dir / "absent", 9).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(read_file(dir / "absent", 9).status().message(), HasSubstr("absent': No such file"));
  EXPECT_THAT(read_file(dir.path(), 9).status().message(), HasSubstr("it is a folder"));
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(read_file(dir / "pipe", 9).status().message(), HasSubstr("a device or a pipe"));
  EXPECT_FALSE(read_file(std::string("a\0b", 3), 9).is_ok());
}

TEST(File, info_tells_size_kind_and_identity) {
  const TestDir dir;
  const std::string path = make(dir, "a", "123");
  ASSERT_EQ(::symlink(path.c_str(), (dir / "link").c_str()), 0);
  const FileInfo info = file_info(path).value();
  EXPECT_EQ(info.size, 3);
  EXPECT_TRUE(info.is_regular);
  EXPECT_GT(info.mtime_ns, int64_t{1'500'000'000} * 1'000'000'000);
  EXPECT_EQ(file_info(dir / "link").value(), info);
  EXPECT_TRUE(file_info(dir.path()).value().is_directory);
}

TEST(CacheDir, the_first_variable_that_is_set_wins_and_the_folder_is_made) {
  const TestDir dir;
  ::setenv("HOME", (dir / "home").c_str(), 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("NEREID_CACHE_DIR");
  EXPECT_EQ(cache_dir().value(), dir / "home/.cache/nereid");
  EXPECT_TRUE(file_info(dir / "home/.cache/nereid").value().is_directory);
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_dir().value(), dir / "home/.cache/nereid");
  ::setenv("XDG_CACHE_HOME", (dir / "xdg").c_str(), 1);
  EXPECT_EQ(cache_dir().value(), dir / "xdg/nereid");
  ::setenv("NEREID_CACHE_DIR", (dir / "own/deep/").c_str(), 1);
  EXPECT_EQ(cache_dir().value(), dir / "own/deep/");
  ::setenv("NEREID_CACHE_DIR", make(dir, "file", "").c_str(), 1);
  EXPECT_THAT(cache_dir().status().message(), HasSubstr("but it is a file"));
  ::unsetenv("NEREID_CACHE_DIR");
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(MappedFile, the_content_is_seen_and_survives_a_move_and_a_removal) {
  const TestDir dir;
  const std::string path = make(dir, "a", "weights");
  MappedFile a = MappedFile::open(path).value();
  const std::string_view view = a.text();
  a.advise_sequential();
  a.will_need(3, 1 << 20);
  a.will_need(99, 1);
  const MappedFile b = std::move(a);
  ASSERT_EQ(::unlink(path.c_str()), 0);
  EXPECT_EQ(view, "weights");
  EXPECT_EQ(b.bytes().data(), static_cast<const void*>(view.data()));
  EXPECT_EQ(b.size(), 7u);
  EXPECT_EQ(b.path(), path);
  EXPECT_EQ(a.size(), 0u);
}

TEST(MappedFile, an_empty_file_is_an_empty_span) {
  const TestDir dir;
  const MappedFile f = MappedFile::open(make(dir, "a", "")).value();
  EXPECT_TRUE(f.bytes().empty());
  f.advise_sequential();
}

TEST(MappedFile, absent_files_and_folders_are_sentences) {
  const TestDir dir;
  EXPECT_EQ(MappedFile::open(dir / "absent").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(MappedFile::open(dir.path()).status().message(), HasSubstr("it is a folder"));
  EXPECT_FALSE(MappedFile::open("").is_ok());
}

TEST(MappedFile, a_file_that_may_not_be_read_is_a_sentence) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may read everything";
  const TestDir dir;
  const std::string path = make(dir, "a", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  EXPECT_THAT(MappedFile::open(path).status().message(), HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace nereid
