// SPDX-License-Identifier: Apache-2.0
// Python's two ways to format: "..." % values and "...".format(values).
#pragma once

#include <string_view>

#include "base/status.h"
#include "llm/chat/function.h"
#include "llm/chat/heap.h"
#include "llm/chat/value.h"

namespace nereid::chat {

// One field: [[fill]align][sign][#][0][width][,][.precision][type].
struct FormatSpec {
  std::string_view fill = " ";  // one code point
  char align = 0;               // < > ^ =, or 0: the type's own
  char sign = '-';              // - + or blank
  bool is_alternate = false;    // 0x before hexadecimal digits
  char grouping = 0;            // , or _
  int64_t width = 0;
  int64_t precision = -1;  // -1: none
  int64_t min_digits = 0;  // of integers, the precision of %d
  char type = 0;
};

// format(value, spec), as "{:spec}" does it. Errors: a spec that Python refuses for the value.
Status write_with_spec(TextBuilder& out, const Value& value, std::string_view spec);
// The same with the spec taken apart and not checked; the type must fit the value.
Status write_formatted(TextBuilder& out, const Value& value, const FormatSpec& spec);

// format % values: a tuple gives several, a dict named ones, anything else is one.
Result<Value> format_percent(Heap& heap, const Value& format, const Value& values);

// text.format(*args.rest, **args.named), with {0}, {}, {name}, {name.attribute[item]}, !r, !s and specs.
Result<Value> format_braces(Interpreter& in, std::string_view text, const Args& args);

}  // namespace nereid::chat
