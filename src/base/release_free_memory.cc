// SPDX-License-Identifier: Apache-2.0
#include "base/release_free_memory.h"

#include <cstddef>

// glibc's; others have none.
extern "C" int malloc_trim(std::size_t pad) __attribute__((weak));

namespace nereid {

void release_free_memory() {
  if (malloc_trim != nullptr) malloc_trim(0);
}

}  // namespace nereid
