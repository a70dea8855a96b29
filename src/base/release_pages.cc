// SPDX-License-Identifier: Apache-2.0
#include "base/release_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace nereid {

void release_pages(std::span<const std::byte> range) {
  static const auto kPage = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(range.data());
  const uintptr_t begin = (address + kPage - 1) / kPage * kPage, end = (address + range.size()) / kPage * kPage;
  // Best effort: where the system refuses, the memory stays.
  if (begin < end) (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace nereid
