// SPDX-License-Identifier: Apache-2.0
#include "server/runner/host_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace nereid::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The processors of the calling thread, by the system's own count.
CpuList mine() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(0, sizeof set, &set), 0);
  CpuList out;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<size_t>(i), &set)) out.push_back(i);
  return out;
}

TEST(HostPolicy, lists_are_numbers_and_ranges) {
  EXPECT_THAT(*parse_cpu_list("0-2,8,1"), ElementsAre(0, 1, 2, 8));
  for (const char* bad : {"", "a", "1-", "3-1", "-1", "0,,1", "99999", "1-2-3"})
    EXPECT_FALSE(parse_cpu_list(bad).is_ok()) << bad;
}

TEST(HostPolicy, what_is_wrong_is_told_with_the_option) {
  for (const char* bad : {"cpu", ",cpu-cores=0", "cpu,cores=0", "cpu,numa-node=777", "cpu,cpu-cores=x"}) {
    const auto parsed = HostPolicies::parse({bad});
    ASSERT_FALSE(parsed.is_ok()) << bad;
    EXPECT_THAT(parsed.status().message(), HasSubstr("--host-policy")) << bad;
  }
}

TEST(HostPolicy, groups_have_the_policy_of_their_kind_unless_they_name_one) {
  EXPECT_EQ(host_policy_of({.name = "g", .kind = InstanceKind::kCpu}), "cpu");
  EXPECT_EQ(host_policy_of({.name = "g", .kind = InstanceKind::kModel}), "model");
  EXPECT_EQ(host_policy_of({.name = "g", .kind = InstanceKind::kGpu, .gpus = {3}}), "gpu_3");
  EXPECT_EQ(host_policy_of({.name = "g", .kind = InstanceKind::kCpu, .host_policy = "mine"}), "mine");
}

TEST(HostPolicy, a_thread_runs_where_it_is_put_with_those_it_starts_and_comes_back) {
  const CpuList before = mine();
  const auto policies = HostPolicies::parse({fmt::format("p,cpu-cores={}", before.back())});
  ASSERT_TRUE(policies.is_ok()) << policies.status().message();
  {
    ThreadPlace place;
    place.move_to(policies->find("p"));
    EXPECT_THAT(mine(), ElementsAre(before.back()));
    std::thread([&] { EXPECT_THAT(mine(), ElementsAre(before.back())); }).join();
    place.move_to(policies->find("other"));
    EXPECT_EQ(mine(), before);
    place.move_to(policies->find("p"));
  }
  EXPECT_EQ(mine(), before);
}

}  // namespace
}  // namespace nereid::server
