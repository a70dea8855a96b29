// SPDX-License-Identifier: Apache-2.0
// One form for all that a template can call by name: filters, tests, globals and methods are rows of this type.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/chat/value.h"

namespace nereid::chat {

class Interpreter;

// The arguments as the call wrote them.
struct CallArgs {
  std::vector<Value> positional;
  std::vector<NamedValue> keywords;
};

// The arguments sorted to a row's parameters.
struct Args {
  std::vector<Value> bound;       // one a parameter; kMissing where none was given
  std::vector<Value> rest;        // more positional ones (variadic rows only)
  std::vector<NamedValue> named;  // more keywords (variadic rows only)

  const Value& operator[](size_t i) const { return bound[i]; }
  bool has(size_t i) const { return !bound[i].is_missing(); }
  // Given and not none.
  bool is_set(size_t i) const { return has(i) && !bound[i].is_none(); }
  bool flag(size_t i, bool fallback) const { return has(i) ? is_true(bound[i]) : fallback; }
  // Errors: a sentence that names the type found.
  Result<int64_t> integer(size_t i, int64_t fallback) const;
  Result<std::string_view> text(size_t i, std::string_view fallback) const;
};

// `self` is what is filtered, tested or whose method it is; missing for globals.
using Function = Result<Value> (*)(Interpreter& in, const Value& self, const Args& args);

constexpr size_t kMaxParameters = 6;
using Parameters = std::array<std::string_view, kMaxParameters>;

struct FunctionRow {
  std::string_view name;
  Parameters parameters;  // empty names end the list
  uint8_t required;       // how many of them must be given
  bool is_variadic;
  Function call;
};

// Errors: too many, unknown, doubled or missing arguments.
Result<Args> bind(const FunctionRow& row, const CallArgs& args);

const FunctionRow* find_row(std::span<const FunctionRow> table, std::string_view name);

// The tables.
std::span<const FunctionRow> filter_table();
std::span<const FunctionRow> test_table();
std::span<const FunctionRow> global_table();
// The methods of a kind of value; empty when it has none.
std::span<const FunctionRow> method_table(Kind kind);

}  // namespace nereid::chat
