// SPDX-License-Identifier: Apache-2.0
// The key-value section of a GGUF file into base/metadata.h: integers widen to int64, floats to double.
#pragma once

#include "base/metadata.h"
#include "import/gguf/cursor.h"

namespace nereid::import::gguf {

// Reads `count` pairs. Strings stay views into the cursor's bytes. Memory: at most 8 times the bytes read (an array of
// int8 becomes one of int64). kInvalidArgument: truncated, unknown value type, bad boolean, duplicate or empty key,
// unsigned value over 2^63 - 1. kUnsupported: arrays of arrays.
Result<Metadata> read_metadata(Cursor& cursor, uint64_t count);

}  // namespace nereid::import::gguf
