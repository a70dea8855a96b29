// SPDX-License-Identifier: Apache-2.0
// What was freed and the allocator keeps for later goes back to the system.
#pragma once

namespace nereid {

// After something large has gone for good. Takes milliseconds; any thread. Does nothing where the C library has no way
// to ask for it.
void release_free_memory();

}  // namespace nereid
