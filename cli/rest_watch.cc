// SPDX-License-Identifier: Apache-2.0
#include "cli/rest_watch.h"

#include <malloc.h>

#include <ctime>

namespace nereid::cli {
namespace {

constexpr int64_t kSpanNs = 3'000'000'000;
constexpr int64_t kBusyNs = kSpanNs / 50;  // of CPU time in a span: it works
constexpr int kKeptBytes = 32 << 20;       // at the end of a heap
constexpr int kMappedBytes = 16 << 20;     // and more: the system's own from the beginning, as weights are

}  // namespace

void keep_freed_memory() {
  ::mallopt(M_TRIM_THRESHOLD, kKeptBytes);
  ::mallopt(M_MMAP_THRESHOLD, kMappedBytes);
}

bool RestWatch::has_come_to_rest(int64_t now_ns, int64_t cpu_ns) {
  if (since_ns_ == 0) since_ns_ = now_ns, cpu_ns_ = cpu_ns;
  if (now_ns - since_ns_ < kSpanNs) return false;
  const bool works = cpu_ns - cpu_ns_ > kBusyNs;
  since_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  const bool rests = has_worked_ && !works;
  has_worked_ = works;
  return rests;
}

int64_t process_cpu_ns() {
  timespec spent = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return int64_t{spent.tv_sec} * 1'000'000'000 + spent.tv_nsec;
}

}  // namespace nereid::cli
