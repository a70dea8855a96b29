// SPDX-License-Identifier: Apache-2.0
// What filters order and look up by: the attribute= and case_sensitive= arguments, and a sort that may fail.
#pragma once

#include <vector>

#include "base/status.h"
#include "llm/chat/value.h"

namespace nereid::chat {

class Interpreter;

// item.a.b.0 for the path "a.b.0" (or a number); the item itself for a missing or none path.
Result<Value> value_at_path(Interpreter& in, const Value& item, const Value& path);
// The same with text lowered unless case matters.
Result<Value> key_at_path(Interpreter& in, const Value& item, const Value& path, bool case_sensitive);

struct Keyed {
  Value key;
  Value value;
};
// Stable, by key; on equal keys the order stays even when reversed. Error: keys that have no order.
Status sort_keyed(Interpreter& in, std::vector<Keyed>* items, bool reverse);

}  // namespace nereid::chat
