// SPDX-License-Identifier: Apache-2.0
// Runs another program to its end, with its output in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace nereid::cli {

struct ProcessOptions {
  std::vector<std::string> argv;                                 // the program is looked for in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours, or in place of it
  int64_t timeout_ms = 0;                                        // 0: none
  size_t max_output = 1 << 16;                                   // bytes kept: the last ones
  std::function<void()> tick;                                    // called about ten times a second meanwhile
};

struct ProcessResult {
  int exit_code = 0;   // 128 + signal when one ended it
  std::string output;  // stdout and stderr together, as they came
};

// The program reads nothing (stdin is /dev/null) and has its own process group, so that Ctrl-C comes to us alone; the
// whole group is ended then, and when the time is over.
// kNotFound: no such program; kCancelled: Ctrl-C; kUnavailable: not done in time; kExhausted: no process to be had.
Result<ProcessResult> run_process(const ProcessOptions& options);

}  // namespace nereid::cli
