// SPDX-License-Identifier: Apache-2.0
// Indexing and slicing by position, with Python's negative indices and steps.
#pragma once

#include "base/status.h"
#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// object[start:stop:step]; a missing or none part takes its default. Error: object is no sequence, step is zero.
Result<Value> slice_of(Heap& heap, const Value& object, const Value& start, const Value& stop, const Value& step);

// object[index] of a text, list, tuple or range; missing when there is no such item.
Value item_at(Heap& heap, const Value& object, int64_t index);

}  // namespace nereid::chat
