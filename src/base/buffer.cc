// SPDX-License-Identifier: Apache-2.0
#include "base/buffer.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace nereid {

namespace {
constexpr size_t kHugePageBytes = size_t{2} << 20;
}

Result<Buffer> Buffer::allocate(size_t bytes, PageSize pages) {
  Buffer b;
  if (bytes == 0) return b;
  const bool huge = pages == PageSize::kHuge && bytes >= kHugePageBytes;
  size_t mapped = 0;
  if (__builtin_add_overflow(bytes, huge ? kHugePageBytes : 0, &mapped))
    return exhausted("expected to allocate memory, but {} bytes is more than an address can hold", bytes);
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return exhausted("the system refused {} MiB of memory: {}; close other programs or use a smaller model or context",
                     bytes >> 20, std::strerror(errno));
  auto address = reinterpret_cast<uintptr_t>(p);
  if (huge) {
    address = (address + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
    // Best effort: a kernel without transparent huge pages answers an error, and 4 KiB pages still work.
    (void)madvise(reinterpret_cast<void*>(address), bytes, MADV_HUGEPAGE);
  }
  b.data_ = reinterpret_cast<std::byte*>(address);
  b.size_ = bytes;
  b.mapping_ = p;
  b.mapping_size_ = mapped;
  return b;
}

Buffer::~Buffer() {
  if (mapping_) munmap(mapping_, mapping_size_);
}

}  // namespace nereid
