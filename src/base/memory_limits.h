// SPDX-License-Identifier: Apache-2.0
// How much memory this process may still take: what the system has free, and what its control groups leave.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace nereid {

// MemAvailable of the text of /proc/meminfo, in bytes; 0 where it does not say.
int64_t meminfo_available(std::string_view meminfo);

// The least that the control groups (v1 and v2) of the process leave: limit less use, of the group and of every one
// above it; -1: no limit. `self_cgroup` is the text of /proc/self/cgroup, `root` the folder where groups are mounted.
int64_t cgroup_memory_left(std::string_view self_cgroup, const std::string& root);

// The lesser of the two; 0 where nothing is known. Reads /proc and /sys.
int64_t available_memory_bytes();

}  // namespace nereid
