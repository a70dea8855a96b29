// SPDX-License-Identifier: Apache-2.0
// What a model has done so far, as the statistics extension and the metrics print it.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "server/core/latency_counts.h"

namespace nereid::server {

struct DurationSum {
  uint64_t count = 0, ns = 0;
  void add(int64_t by_ns) { ++count, ns += static_cast<uint64_t>(by_ns > 0 ? by_ns : 0); }
};

struct ComputeSums {
  DurationSum input, infer, output;
};

// What latencies are counted of: a request from its arrival to its last response, its wait, the parts of its execution,
// from its arrival to its first response, and what looking into a cache of responses took.
enum class LatencyPhase : uint8_t {
  kRequest,
  kQueue,
  kComputeInput,
  kComputeInfer,
  kComputeOutput,
  kFirst,
  kCacheHit,
  kCacheMiss,
  kCount,
};

enum class InferFailure : uint8_t { kRejected, kCancelled, kBackend, kOther, kCount };

struct InferStatistics {
  uint64_t last_inference_ms = 0;  // since 1970
  uint64_t inferences = 0;         // items of batches
  uint64_t executions = 0;
  DurationSum success, fail, queue;
  ComputeSums compute;
  DurationSum cache_hit, cache_miss;
  bool has_cache = false;                  // it answers from a cache of responses
  std::map<int64_t, ComputeSums> batches;  // by the size of the batch, one count an execution
  std::array<uint64_t, static_cast<size_t>(InferFailure::kCount)> failures{};
  std::array<LatencyCounts, static_cast<size_t>(LatencyPhase::kCount)> latencies{};
  int64_t pending = 0;  // requests that wait
  double load_s = 0;

  LatencyCounts& latency(LatencyPhase phase) { return latencies[static_cast<size_t>(phase)]; }
  const LatencyCounts& latency(LatencyPhase phase) const { return latencies[static_cast<size_t>(phase)]; }
};

}  // namespace nereid::server
