// SPDX-License-Identifier: Apache-2.0
// One writer for everything a person reads while the program works: lines above, and at most one status line below
// them.
//
// Lines: "nereid: warning: the text". On a terminal the status line (a progress bar) is taken away before a line is
// written and put back after it, so the two never mix.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace nereid {

enum class LogLevel : uint8_t { error, warn, info, debug };
std::optional<LogLevel> log_level_from_name(std::string_view name);

struct ConsoleOptions {
  LogLevel level = LogLevel::info;
  bool terminal = false;  // redraws a status line
  bool colors = false;
};

// Thread-safe; a line is one write(), so lines of several processes do not mix either. Errors of writing are ignored.
class Console {
 public:
  // `fd` stays the caller's.
  Console(int fd, ConsoleOptions options);
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  bool enabled(LogLevel level) const { return level <= level_.load(std::memory_order_relaxed); }
  void set_level(LogLevel level) { level_.store(level, std::memory_order_relaxed); }
  bool is_terminal() const { return options_.terminal; }
  int columns() const;  // of the terminal now; 80 where it does not say

  // Writes the text if the level is enabled. Control bytes in it (from a file's name, say) are shown as '?'.
  void line(LogLevel level, std::string_view text);
  // As a warning, the first time that this key is given.
  void warn_once(std::string_view key, std::string_view text);

  // Shows `text` below all lines until the next call; empty: no more. Without effect where there is no terminal.
  void status(std::string_view text);

 private:
  void write(std::string_view text) const;

  const int fd_;
  const ConsoleOptions options_;
  std::atomic<LogLevel> level_;
  std::mutex mutex_;
  std::string status_;  // guarded, as the next
  std::set<std::string, std::less<>> warned_;
};

// Standard error. Level from NEREID_LOG (error, warn, info, debug), a terminal if it is one and TERM is not "dumb",
// colours then unless NO_COLOR is set.
Console& stderr_console();

}  // namespace nereid
