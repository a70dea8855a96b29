// SPDX-License-Identifier: Apache-2.0
// Memory between requests: while a server works, what tensors leave behind is kept for the next ones; once it rests, it
// goes back to the system.
#pragma once

#include <cstdint>

namespace nereid::cli {

// For the whole process: the C library keeps tens of megabytes that were freed, which it would otherwise give back
// after each request and get again, page by page, for the next.
void keep_freed_memory();

// Tells when the process has done next to nothing for a while after it had worked. Times in nanoseconds.
class RestWatch {
 public:
  // To be asked now and then. True once after each time of work.
  bool has_come_to_rest(int64_t now_ns, int64_t cpu_ns);

 private:
  int64_t since_ns_ = 0, cpu_ns_ = 0;
  bool has_worked_ = false;
};

// CPU time of the process.
int64_t process_cpu_ns();

}  // namespace nereid::cli
