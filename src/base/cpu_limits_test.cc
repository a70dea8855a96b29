// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_limits.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/test_dir.h"

namespace nereid {
namespace {

void put(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

TEST(CpuLimits, a_v2_group_limits_and_so_do_those_above_it) {
  const TestDir root;
  put(root / "a/b/cpu.max", "max 100000\n");
  put(root / "a/cpu.max", "250000 100000\n");
  put(root / "cpu.max", "800000 100000\n");
  EXPECT_EQ(cgroup_cpu_quota("0::/a/b\n", root.path()), 2.5);
  EXPECT_EQ(cgroup_cpu_quota("0::/\n", root.path()), 8);
}

TEST(CpuLimits, a_v1_group_is_found_under_either_name_of_its_mount) {
  const TestDir root;
  put(root / "cpu,cpuacct/docker/x/cpu.cfs_quota_us", "150000\n");
  put(root / "cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota("5:memory:/z\n4:cpu,cpuacct:/docker/x\n", root.path()), 1.5);
  put(root / "cpu/cpu.cfs_quota_us", "50000\n");
  put(root / "cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_cpu_quota("3:cpu:/not/visible/here\n", root.path()), 0.5);
}

TEST(CpuLimits, no_limit_is_zero_and_odd_texts_are_no_limit) {
  const TestDir root;
  put(root / "cpu/cpu.cfs_quota_us", "-1\n");
  put(root / "cpu/cpu.cfs_period_us", "100000\n");
  put(root / "cpu.max", "100000 0\n");
  for (const char* text : {"", "\n\n", "0::", "0::/../../x", "3:cpu:/", "9", "1:2", ":::::", "0::/\x01\xff"})
    EXPECT_EQ(cgroup_cpu_quota(text, root.path()), 0) << text;
}

TEST(CpuLimits, this_process_may_use_at_least_one_cpu_and_at_most_its_mask) {
  EXPECT_GE(usable_cpus(), 1);
  EXPECT_LE(usable_cpus(), static_cast<int>(affinity_cpus().size()));
}

}  // namespace
}  // namespace nereid
