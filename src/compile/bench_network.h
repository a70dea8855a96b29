// SPDX-License-Identifier: Apache-2.0
// How long a network takes: runs of one context, one after the other, and where their time goes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compile/network_session.h"

namespace nereid::compile {

// Runs go on until there are so many and so much time has passed.
struct TimingOptions {
  int64_t iterations = 10;
  double duration_s = 3;
  double warmup_ms = 200;
  double idle_ms = 0;  // waited after each timed run
};

// Nanoseconds since the first run began.
struct RunTime {
  int64_t start_ns = 0;   // the inputs begin to be set
  int64_t inputs_ns = 0;  // they are
  int64_t end_ns = 0;     // the outputs are there
};

struct TimedRuns {
  double first_ms = 0;  // the first run of all: plans are made, weights packed
  int64_t warmup_runs = 0;
  std::vector<RunTime> runs;
  double wall_ms = 0;  // of the runs together
  double cpu_ms = 0;   // of all threads of this process meanwhile
};

// `tick` is called about ten times a second. Errors: those of a run; kCancelled on Ctrl-C.
Result<TimedRuns> time_runs(const NetworkSession& session, runtime::NetContext& context, const TimingOptions& options,
                            const std::function<void()>& tick = {});

struct LayerTime {
  std::string label;       // "conv_last %x"
  std::string kernel;      // "reference": the plain evaluator
  std::vector<double> ms;  // of each run
  double total_ms() const;
};

// Times each step of `runs` more runs. What no step accounts for (nodes whose result sizes depend on data, the walk
// from step to step) is the last layer, "between the layers".
Result<std::vector<LayerTime>> profile_runs(runtime::NetContext& context, int64_t runs);

struct Latencies {
  double min = 0, median = 0, mean = 0, p90 = 0, p95 = 0, p99 = 0, max = 0;
};

// The smallest value that at least `percent` of all are not above; 0 for no values. Sorts.
double percentile(std::vector<double>& values, double percent);
// Of an even number the mean of the middle two.
double median(std::vector<double>& values);
Latencies summarize(std::vector<double> values);

struct NetworkBench {
  std::vector<double> latencies_ms;
  Latencies latency;
  double throughput = 0;  // runs a second
  double cpu_ms = 0;      // of all threads, a run
  double open_ms = 0;     // reading and optimising the file
  double first_ms = 0;    // the first run
  std::vector<LayerTime> layers;
  std::vector<std::string> notes;  // what runs on reference evaluators and why
  int64_t plan_bytes = 0, packed_bytes = 0;
};

struct BenchOptions {
  TimingOptions timing;
  int64_t profiled_runs = 0;  // 0: no profile
  std::function<void()> tick;
};

Result<NetworkBench> bench_network(const NetworkSession& session, ThreadPool& pool, const BenchOptions& options);

}  // namespace nereid::compile
