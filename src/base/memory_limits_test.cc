// SPDX-License-Identifier: Apache-2.0
#include "base/memory_limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"

namespace nereid {
namespace {

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(MemoryLimits, what_is_available_is_read_from_meminfo) {
  EXPECT_EQ(meminfo_available("MemTotal:  100 kB\nMemAvailable:   40 kB\n"), 40 * 1024);
  EXPECT_EQ(meminfo_available("MemTotal:  100 kB\n"), 0);
  EXPECT_EQ(meminfo_available("MemAvailable: many\n"), 0);
}

TEST(MemoryLimits, the_tightest_group_from_the_process_up_counts) {
  const TestDir dir;
  write(dir / "a/b/memory.max", "1000\n");
  write(dir / "a/b/memory.current", "100\n");
  write(dir / "a/memory.max", "500\n");
  write(dir / "a/memory.current", "200\n");
  write(dir / "memory.max", "max\n");
  write(dir / "memory.current", "300\n");
  EXPECT_EQ(cgroup_memory_left("0::/a/b\n", dir.path()), 300);
  EXPECT_EQ(cgroup_memory_left("0::/\n", dir.path()), -1);
  EXPECT_EQ(cgroup_memory_left("", dir.path()), -1);
  EXPECT_EQ(cgroup_memory_left("nonsense\n", dir.path()), -1);
}

TEST(MemoryLimits, groups_of_the_first_version_have_a_mount_of_their_own) {
  const TestDir dir;
  write(dir / "memory/c/memory.limit_in_bytes", "800\n");
  write(dir / "memory/c/memory.usage_in_bytes", "900\n");
  EXPECT_EQ(cgroup_memory_left("5:cpu:/c\n4:memory:/c\n", dir.path()), 0) << "more in use than allowed leaves nothing";
  EXPECT_EQ(cgroup_memory_left("5:cpu:/c\n", dir.path()), -1);
}

TEST(MemoryLimits, this_machine_has_some_memory) {
  EXPECT_GT(available_memory_bytes(), 1 << 20);
}

}  // namespace
}  // namespace nereid
