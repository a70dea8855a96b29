// SPDX-License-Identifier: Apache-2.0
#include "base/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/console_sink.h"

namespace nereid {
namespace {

std::atomic<ConsoleSink*> sink_of_stderr{nullptr};

struct LevelRow {
  std::string_view name, label, color;
};
constexpr std::array<LevelRow, 4> kLevels = {{
    {"error", "error: ", "\x1b[1;31m"},
    {"warn", "warning: ", "\x1b[1;33m"},
    {"info", "", ""},
    {"debug", "debug: ", "\x1b[2m"},
}};
constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kClearLine = "\r\x1b[K";

// A text of several lines goes on indented: none of what it quotes can pretend to be a line of its own.
void append_printable(std::string& out, std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f ? '?' : c;
    if (c == '\n') out += "  ";
  }
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

ConsoleOptions options_of_stderr() {
  ConsoleOptions options;
  options.level = log_level_from_name(environment("NEREID_LOG")).value_or(LogLevel::info);
  options.terminal = ::isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb";
  options.colors = options.terminal && environment("NO_COLOR").empty();
  return options;
}

}  // namespace

std::optional<LogLevel> log_level_from_name(std::string_view name) {
  const auto row = std::find_if(kLevels.begin(), kLevels.end(), [&](const LevelRow& r) { return r.name == name; });
  if (row == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(row - kLevels.begin());
}

Console::Console(int fd, ConsoleOptions options) : fd_(fd), options_(options), level_(options.level) {}

Console::~Console() {
  status("");
}

int Console::columns() const {
  winsize size{};
  if (::ioctl(fd_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void set_console_sink(ConsoleSink* sink) {
  sink_of_stderr.store(sink, std::memory_order_release);
}

void Console::line(LogLevel level, std::string_view text) {
  if (!enabled(level)) return;
  if (fd_ == STDERR_FILENO)
    if (ConsoleSink* const sink = sink_of_stderr.load(std::memory_order_acquire); sink != nullptr)
      return sink->line(level, text);
  const LevelRow& row = kLevels[static_cast<size_t>(level)];
  const std::lock_guard lock(mutex_);
  std::string out;
  if (!status_.empty()) out += kClearLine;
  out += "nereid: ";
  if (options_.colors && !row.color.empty())
    out += fmt::format("{}{}{}", row.color, row.label, kPlain);
  else
    out += row.label;
  append_printable(out, text);
  out += '\n';
  out += status_;
  write(out);
}

void Console::warn_once(std::string_view key, std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.emplace(key).second) return;
  }
  line(LogLevel::warn, text);
}

void Console::status(std::string_view text) {
  if (!options_.terminal) return;
  const std::lock_guard lock(mutex_);
  if (text == status_) return;
  std::string out(kClearLine);
  status_.clear();
  append_printable(status_, text);
  write(out + status_);
}

void Console::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd_, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return;
    text.remove_prefix(static_cast<size_t>(wrote));
  }
}

Console& stderr_console() {
  // Never destroyed: threads that outlive main() may still have something to say.
  static Console& console = *[] {
    auto* made = new Console(STDERR_FILENO, options_of_stderr());
    if (const std::string_view level = environment("NEREID_LOG"); !level.empty() && !log_level_from_name(level))
      made->line(
          LogLevel::warn,
          fmt::format("expected NEREID_LOG to be error, warn, info or debug, found '{}'; going on with info", level));
    return made;
  }();
  return console;
}

}  // namespace nereid
