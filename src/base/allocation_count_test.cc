// SPDX-License-Identifier: Apache-2.0
// Counts what the test program allocates, for the tests that say that something allocates nothing. In a file of its
// own: inlined into its callers, GCC takes the pair for a mismatch.
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/test_allocations.h"

namespace {
std::atomic<int64_t> g_allocations{0};
}

int64_t nereid::allocation_count() {
  return g_allocations.load();
}

void* operator new(size_t bytes) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
