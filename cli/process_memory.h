// SPDX-License-Identifier: Apache-2.0
// How much memory this process has in use, as the system counts it.
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::cli {

struct ProcessMemory {
  int64_t resident_bytes = 0;  // VmRSS
  int64_t peak_bytes = 0;      // VmHWM: the most that was resident, since the start or reset_peak_memory()
};

ProcessMemory process_memory();
// Reads the text of /proc/self/status; what is not in it is 0.
ProcessMemory parse_process_memory(std::string_view status);

// Lets VmHWM begin anew from what is resident now, where the kernel allows it.
void reset_peak_memory();

}  // namespace nereid::cli
