// SPDX-License-Identifier: Apache-2.0
#include "server/core/shared_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nereid::server {
namespace {

using testing::HasSubstr;

class SharedMemoryTest : public testing::Test {
 protected:
  SharedMemoryTest() {
    fd_ = ::shm_open(key_.c_str(), O_CREAT | O_RDWR, 0600);
    EXPECT_EQ(::ftruncate(fd_, 64), 0);
  }
  ~SharedMemoryTest() override {
    ::close(fd_);
    ::shm_unlink(key_.c_str());
  }
  const std::string key_ = "/nereid_shared_memory_test_" + std::to_string(::getpid());
  int fd_ = -1;
};

TEST_F(SharedMemoryTest, what_is_written_is_read_and_clients_see_it) {
  SharedMemory shared(true);
  ASSERT_TRUE(shared.add({.name = "r", .key = key_, .offset = 8, .bytes = 32}).is_ok());
  const std::string text = "0123456789";
  ASSERT_TRUE(shared.write("r", 4, std::as_bytes(std::span(text))).is_ok());
  EXPECT_EQ(shared.read("r", 4, 10).value(), text);
  char seen[10];
  ASSERT_EQ(::pread(fd_, seen, sizeof seen, 12), 10);
  EXPECT_EQ(std::string(seen, 10), text);
}

TEST_F(SharedMemoryTest, nothing_outside_the_region_is_touched) {
  SharedMemory shared(true);
  ASSERT_TRUE(shared.add({.name = "r", .key = key_, .offset = 8, .bytes = 32}).is_ok());
  EXPECT_TRUE(shared.read("r", 0, 32).is_ok());
  using Part = std::pair<uint64_t, uint64_t>;
  for (const auto& [offset, bytes] : {Part(0, 33), Part(32, 1), Part(33, 0), Part(UINT64_MAX, 2), Part(2, UINT64_MAX)})
    EXPECT_FALSE(shared.read("r", offset, bytes).is_ok()) << offset << ' ' << bytes;
  EXPECT_THAT(shared.read("s", 0, 1).status().message(), HasSubstr("'s'"));
}

TEST_F(SharedMemoryTest, regions_that_cannot_be_are_refused) {
  SharedMemory shared(true);
  EXPECT_FALSE(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 65}).is_ok());
  EXPECT_FALSE(shared.add({.name = "r", .key = key_, .offset = UINT64_MAX, .bytes = 2}).is_ok());
  EXPECT_FALSE(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 0}).is_ok());
  EXPECT_THAT(shared.add({.name = "r", .key = "/no_such_object", .offset = 0, .bytes = 1}).message(),
              HasSubstr("Unable to open"));
  EXPECT_FALSE(shared.add({.name = "r", .key = "/../etc/passwd", .offset = 0, .bytes = 1}).is_ok());
  ASSERT_TRUE(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 8}).is_ok());
  EXPECT_THAT(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 8}).message(), HasSubstr("already"));
}

TEST_F(SharedMemoryTest, an_object_that_shrinks_is_an_error_not_the_end_of_the_process) {
  SharedMemory shared(true);
  ASSERT_TRUE(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 64}).is_ok());
  ASSERT_EQ(::ftruncate(fd_, 0), 0);
  EXPECT_THAT(shared.read("r", 0, 64).status().message(), HasSubstr("smaller"));
}

TEST_F(SharedMemoryTest, where_it_is_not_allowed_nothing_is_shared) {
  SharedMemory shared(false);
  EXPECT_EQ(shared.add({.name = "r", .key = key_, .offset = 0, .bytes = 8}).code(), StatusCode::kUnsupported);
  EXPECT_EQ(shared.read("r", 0, 8).status().code(), StatusCode::kUnsupported);
  EXPECT_TRUE(shared.list("").value().empty());
}

}  // namespace
}  // namespace nereid::server
