// SPDX-License-Identifier: Apache-2.0
// How fast a pool's threads can read memory: the roof of decoding, which reads every weight once a token.
#pragma once

#include <cstdint>

#include "base/cpu_info.h"
#include "base/status.h"
#include "base/thread_pool.h"

namespace nereid::runtime {

struct BandwidthOptions {
  int64_t bytes = 0;        // of the buffer that is read; what fits a cache measures that cache
  int repeats = 5;          // of every way to read
  Isa isa = Isa::baseline;  // width of the loads; never above best_isa()
  // No further read begins after so much time, once there was one; 0: no limit. A busy machine measures less well then.
  double max_seconds = 0;
};

struct Bandwidth {
  double best = 0;    // bytes per second, of the fastest repeat of the fastest way to read
  double median = 0;  // of that way's repeats
  // The fastest way: streams that each thread reads in turn, and how far it prefetches in each (0: not at all).
  int streams = 0;
  int64_t prefetch_bytes = 0;
};

// Reads a buffer of huge pages that the pool's threads fill first, each its share, so that on several memory nodes
// every thread reads its own. Takes some (ways to read * repeats) * bytes / bandwidth: 0.2 s for 100 MB.
// kExhausted: no memory of that size; kCancelled: interrupted; kInvalidArgument: fewer than 64 KiB a thread.
Result<Bandwidth> measure_read_bandwidth(ThreadPool& pool, const BandwidthOptions& options);

}  // namespace nereid::runtime
