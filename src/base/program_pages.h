// SPDX-License-Identifier: Apache-2.0
// The program's own code and constants: what starting up needed and serving does not may leave memory.
#pragma once

#include <cstdint>

namespace nereid {

// The program's and its libraries' read-only pages are given back; those that are needed again are read from the page
// cache, a microsecond for sixteen. For a process that has loaded what it serves and is going to live long. Gives the
// bytes of the ranges, resident or not. Any thread, at any time.
int64_t release_program_pages();

}  // namespace nereid
