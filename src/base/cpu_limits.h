// SPDX-License-Identifier: Apache-2.0
// How many CPUs this process may use: its affinity mask and the quota of its control group.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nereid {

// The CPUs the calling thread may run on, ascending; never empty.
std::vector<int> affinity_cpus();

// The CPU time the control groups (v1 and v2) allow, in CPUs (1.5 = one and a half); 0 = no limit.
// A limit of any group above counts too. `self_cgroup` is the text of /proc/self/cgroup and `root` the folder where the
// groups are mounted (/sys/fs/cgroup); a path that is not visible there, as in a container, means the root itself.
double cgroup_cpu_quota(std::string_view self_cgroup, const std::string& root);

// min(affinity, quota rounded up), at least 1. Reads /proc and /sys.
int usable_cpus();

}  // namespace nereid
