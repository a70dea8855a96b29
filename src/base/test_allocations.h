// SPDX-License-Identifier: Apache-2.0
// For tests only: what the program allocates. A test program has it by nereid_counts_allocations(PROGRAM).
#pragma once

#include <cstdint>

namespace nereid {

// Calls of operator new so far, by anybody (allocation_count_test.cc).
int64_t allocation_count();

}  // namespace nereid
