// SPDX-License-Identifier: Apache-2.0
// Edits that a filter and a string method share.
#pragma once

#include <string_view>

#include "base/status.h"
#include "llm/chat/function.h"
#include "llm/chat/heap.h"

namespace nereid::chat {

// str.replace: the first `count` places (all when negative); an empty `old` stands before, between and after
// characters.
void write_replaced(TextBuilder& out, std::string_view text, std::string_view old, std::string_view replacement,
                    int64_t count);
// str.center, ljust, rjust: `share` of the padding goes left: 0 none, 1 all, 2 half as center does.
Value pad_text(Heap& heap, const Value& text, int64_t width, std::string_view fill, int share);

}  // namespace nereid::chat
