// SPDX-License-Identifier: Apache-2.0
// Lines for the person at the terminal, on standard error: log_warn("the cache in {} is {} MiB", path, n).
// The text is a full sentence without an end mark; arguments of a disabled level are not formatted.
#pragma once

#include <fmt/core.h>

#include <utility>

#include "base/console.h"

namespace nereid {

template <typename... A>
void log(LogLevel level, fmt::format_string<A...> f, A&&... a) {
  Console& console = stderr_console();
  if (console.enabled(level)) console.line(level, fmt::format(f, std::forward<A>(a)...));
}
template <typename... A>
void log_error(fmt::format_string<A...> f, A&&... a) {
  log(LogLevel::error, f, std::forward<A>(a)...);
}
template <typename... A>
void log_warn(fmt::format_string<A...> f, A&&... a) {
  log(LogLevel::warn, f, std::forward<A>(a)...);
}
template <typename... A>
void log_info(fmt::format_string<A...> f, A&&... a) {
  log(LogLevel::info, f, std::forward<A>(a)...);
}
template <typename... A>
void log_debug(fmt::format_string<A...> f, A&&... a) {
  log(LogLevel::debug, f, std::forward<A>(a)...);
}
// A warning that is worth saying once a process for each `key`, however often it is met.
template <typename... A>
void warn_once(std::string_view key, fmt::format_string<A...> f, A&&... a) {
  stderr_console().warn_once(key, fmt::format(f, std::forward<A>(a)...));
}

}  // namespace nereid
