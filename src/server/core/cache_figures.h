// SPDX-License-Identifier: Apache-2.0
// What a cache of responses has done so far.
#pragma once

#include <cstdint>

namespace nereid::server {

struct CacheFigures {
  uint64_t bytes = 0, capacity = 0, entries = 0;
  uint64_t lookups = 0, hits = 0, misses = 0, evictions = 0;
  uint64_t lookup_ns = 0, insertion_ns = 0;
};

}  // namespace nereid::server
