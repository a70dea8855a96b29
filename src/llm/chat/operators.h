// SPDX-License-Identifier: Apache-2.0
// Python's operators over values: equality, order, membership and arithmetic.
//
// Errors are sentences in Python's words without line numbers. Work is charged to the heap, so comparing a list that
// contains itself many times over ends with the budget.
#pragma once

#include <string_view>

#include "base/status.h"
#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// Equality of keys of a dict (hashable values): never fails, charges nothing.
bool is_same_key(const Value& a, const Value& b);
bool is_equal(Heap& heap, const Value& a, const Value& b);
// `is`: the same object, or the same none, boolean or number.
bool is_identical(const Value& a, const Value& b);
// -1, 0 or 1; an error unless both are numbers, texts, or lists or tuples of such. NaN compares as 2.
Result<int> order(Heap& heap, const Value& a, const Value& b, std::string_view op = "<");
// op is == != < <= > >= in notin.
Result<bool> compare(Heap& heap, std::string_view op, const Value& a, const Value& b);
// item in container.
Result<bool> contains(Heap& heap, const Value& container, const Value& item);
// op is + - * / // % **.
Result<Value> arithmetic(Heap& heap, std::string_view op, const Value& a, const Value& b);
// int(a), towards zero. Error: NaN, infinite or beyond 64 bits.
Result<Value> to_integer(double a);
Result<Value> negative(const Value& a);
Result<Value> positive(const Value& a);

// The sentence for a use of an undefined value that jinja2 forbids.
Status undefined_error(const Value& undefined);
std::string undefined_message(const Value& undefined);

}  // namespace nereid::chat
