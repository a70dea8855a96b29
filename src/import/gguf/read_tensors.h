// SPDX-License-Identifier: Apache-2.0
// The tensor records of a GGUF file, checked against the data section they point into.
#pragma once

#include <span>
#include <vector>

#include "import/gguf/cursor.h"
#include "import/gguf/gguf.h"

namespace nereid::import::gguf {

// Reads `count` records at the cursor; `file` is the whole file and `alignment` a positive multiple of 8.
// Every view lies inside the file, starts at a multiple of `alignment` after the data section's start, has a row that
// is a whole number of blocks, and shares no byte with another. Names may still repeat (see index_by_name).
Result<std::vector<Tensor>> read_tensors(Cursor& cursor, uint64_t count, uint64_t alignment,
                                         std::span<const std::byte> file);

// The indices of `tensors` sorted by name; kInvalidArgument if two share one.
Result<std::vector<uint32_t>> index_by_name(std::span<const Tensor> tensors);

}  // namespace nereid::import::gguf
