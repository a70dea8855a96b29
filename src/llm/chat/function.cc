// SPDX-License-Identifier: Apache-2.0
// Sorting arguments to parameters.
#include "llm/chat/function.h"

#include <algorithm>

#include "llm/chat/operators.h"

namespace nereid::chat {

Result<int64_t> Args::integer(size_t i, int64_t fallback) const {
  if (!has(i)) return fallback;
  if (bound[i].is_undefined()) return undefined_error(bound[i]);
  if (!bound[i].is_integral()) return invalid_argument("expected an integer, found '{}'.", type_name(bound[i]));
  return bound[i].as_int();
}

Result<std::string_view> Args::text(size_t i, std::string_view fallback) const {
  if (!has(i)) return fallback;
  if (bound[i].is_undefined()) return undefined_error(bound[i]);
  if (!bound[i].is_string()) return invalid_argument("expected a str, found '{}'.", type_name(bound[i]));
  return bound[i].as_text();
}

Result<Args> bind(const FunctionRow& row, const CallArgs& args) {
  const auto count = static_cast<size_t>(std::find(row.parameters.begin(), row.parameters.end(), std::string_view()) -
                                         row.parameters.begin());
  Args out;
  out.bound.resize(count);
  for (size_t i = 0; i < args.positional.size(); ++i) {
    if (i < count) {
      out.bound[i] = args.positional[i];
    } else if (row.is_variadic) {
      out.rest.push_back(args.positional[i]);
    } else {
      return invalid_argument("{}() takes at most {} argument(s), found {}.", row.name, count, args.positional.size());
    }
  }
  for (const NamedValue& keyword : args.keywords) {
    const auto at = static_cast<size_t>(
        std::find(row.parameters.begin(), row.parameters.begin() + count, keyword.name) - row.parameters.begin());
    if (at < count) {
      if (!out.bound[at].is_missing()) return invalid_argument("{}() got two values for '{}'.", row.name, keyword.name);
      out.bound[at] = keyword.value;
    } else if (row.is_variadic) {
      out.named.push_back(keyword);
    } else {
      return invalid_argument("{}() has no parameter '{}'.", row.name, keyword.name);
    }
  }
  for (size_t i = 0; i < row.required; ++i) {
    if (out.bound[i].is_missing())
      return invalid_argument("{}() needs the argument '{}'.", row.name, row.parameters[i]);
  }
  return out;
}

const FunctionRow* find_row(std::span<const FunctionRow> table, std::string_view name) {
  const auto it = std::find_if(table.begin(), table.end(), [&](const FunctionRow& row) { return row.name == name; });
  return it == table.end() ? nullptr : &*it;
}

}  // namespace nereid::chat
