// SPDX-License-Identifier: Apache-2.0
// What `nereid bench` prints: a Markdown table for people, one JSON object for programs.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/bench_run.h"

namespace nereid::cli {

// One model at one number of threads.
struct BenchReport {
  std::string model;        // as it was asked for
  std::string description;  // "llama q4_1"
  int64_t weight_bytes = 0;
  int64_t parameters = 0;
  std::string isa;
  int threads = 0;
  double load_ms = 0;
  int64_t peak_bytes = 0;            // VmHWM: most resident memory while the tests ran, the roof's buffer not included
  double roof_bytes_per_second = 0;  // measured; 0: not
  std::vector<BenchResult> results;
};

// All reports in one table, then a line for each that says how long loading took, memory and roof.
std::string bench_markdown(const std::vector<BenchReport>& reports);

// The object of the stable format; speeds are of the best repeat where nothing else is said.
Json bench_json(const BenchReport& report);

// Where the time of a case goes: a table, longest first.
std::string bench_profile_markdown(const BenchCase& what, const std::vector<BenchStepTime>& times);

// 134515008 -> "134.52 M".
std::string format_count(int64_t count);

}  // namespace nereid::cli
