// SPDX-License-Identifier: Apache-2.0
// Memory that is ours but holds nothing that anybody will read goes back to the system without being freed.
#pragma once

#include <cstddef>
#include <span>

namespace nereid {

// The whole pages inside the range leave: those of a file's mapping are read from the file when they are touched again,
// all others are zeros then. Nobody else may be reading or writing the range.
void release_pages(std::span<const std::byte> range);

}  // namespace nereid
