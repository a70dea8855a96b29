// SPDX-License-Identifier: Apache-2.0
// Values as Python prints them: str() and repr().
#pragma once

#include <string>
#include <string_view>

#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// str(value): text itself, nothing for undefined, "None", "True", "1.5", "[1, 'a']", ...
void write_str(TextBuilder& out, const Value& value);
void write_repr(TextBuilder& out, const Value& value);
// str(value) as a value; text comes back as it is.
Value to_str(Heap& heap, const Value& value);

// Python's repr of a double: the shortest digits that read back as the same number.
std::string float_text(double v);

// The five characters that HTML needs escaped, as markupsafe writes them.
void write_escaped(TextBuilder& out, std::string_view text);
// A part of a text that is joined to markup: escaped unless it is markup itself.
void add_part(TextBuilder& out, const Value& part);

}  // namespace nereid::chat
