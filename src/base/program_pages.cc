// SPDX-License-Identifier: Apache-2.0
#include "base/program_pages.h"

#include <link.h>

#include <cstddef>
#include <span>

#include "base/release_pages.h"

namespace nereid {
namespace {

// Segments that nobody writes: code and constants. (Those with relocations are written when the program starts.)
int release_object(dl_phdr_info* object, size_t, void* total) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const auto* begin = reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr);
    release_pages({begin, segment.p_memsz});
    *static_cast<int64_t*>(total) += static_cast<int64_t>(segment.p_memsz);
  }
  return 0;
}

}  // namespace

int64_t release_program_pages() {
  int64_t total = 0;
  ::dl_iterate_phdr(release_object, &total);
  return total;
}

}  // namespace nereid
