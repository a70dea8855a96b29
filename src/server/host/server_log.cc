// SPDX-License-Identifier: Apache-2.0
#include "server/host/server_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <ctime>
#include <mutex>

#include "base/console_sink.h"
#include "base/file.h"
#include "base/unique_fd.h"

namespace nereid::server {
namespace {

int64_t unix_us() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::microseconds>(system_clock::now().time_since_epoch()).count();
}

char letter_of(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return 'E';
    case LogLevel::warn:
      return 'W';
    case LogLevel::info:
    case LogLevel::debug:  // as verbose lines have always been marked
      return 'I';
  }
  return 'I';
}

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warn:
      return "warning";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "verbose";
  }
  return "info";
}

// As a JSON text: nothing in it can end the line or pretend to be another.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

class ServerLog final : public LogControl, public ConsoleSink {
 public:
  ServerLog(LogSettings settings, UniqueFd file) : settings_(std::move(settings)), file_(std::move(file)) {}
  ~ServerLog() override { set_console_sink(nullptr); }

  LogSettings read() const override {
    const std::lock_guard lock(mutex_);
    return settings_;
  }
  void change(const LogChange& change) override {
    const std::lock_guard lock(mutex_);
    settings_.info = change.info.value_or(settings_.info);
    settings_.warning = change.warning.value_or(settings_.warning);
    settings_.error = change.error.value_or(settings_.error);
    settings_.verbose_level = change.verbose_level.value_or(settings_.verbose_level);
    settings_.format = change.format.value_or(settings_.format);
    take_over();
  }

  void line(LogLevel level, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (!takes(level)) return;
    std::string line = log_line(settings_.format, level, text, unix_us(), ::getpid()) + "\n";
    for (std::string_view left = line; !left.empty();) {
      const ssize_t n = ::write(file_ ? file_.get() : STDERR_FILENO, left.data(), left.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return;
      left.remove_prefix(static_cast<size_t>(n));
    }
  }

  // From now on lines come here; those that are not written are not even made.
  void take_over() {
    set_console_sink(this);
    stderr_console().set_level(settings_.verbose_level > 0 ? LogLevel::debug
                               : settings_.info            ? LogLevel::info
                               : settings_.warning         ? LogLevel::warn
                                                           : LogLevel::error);
  }

 private:
  bool takes(LogLevel level) const {
    switch (level) {
      case LogLevel::error:
        return settings_.error;
      case LogLevel::warn:
        return settings_.warning;
      case LogLevel::info:
        return settings_.info;
      case LogLevel::debug:
        return settings_.verbose_level > 0;
    }
    return true;
  }

  mutable std::mutex mutex_;
  LogSettings settings_;
  const UniqueFd file_;
};

}  // namespace

std::string log_line(LogFormat format, LogLevel level, std::string_view text, int64_t unix_us, int process) {
  const auto seconds = static_cast<time_t>(unix_us / 1'000'000);
  const auto micros = static_cast<int>(unix_us % 1'000'000);
  tm t = {};
  ::gmtime_r(&seconds, &t);
  switch (format) {
    case LogFormat::kDefault:
      return fmt::format("{}{:02}{:02} {:02}:{:02}:{:02}.{:06} {} server] {}", letter_of(level), t.tm_mon + 1,
                         t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, micros, process, quoted(text));
    case LogFormat::kIso8601:
      return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z {} {} server] {}", t.tm_year + 1900, t.tm_mon + 1,
                         t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, letter_of(level), process, quoted(text));
    case LogFormat::kJson:
      return fmt::format(
          "{{\"time\":\"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z\",\"level\":\"{}\",\"pid\":{},\"message\":{}}}",
          t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, micros, name_of(level), process,
          quoted(text));
    case LogFormat::kPlain:
      break;
  }
  std::string plain = quoted(text);
  return "nereid: " + (level == LogLevel::info ? std::string() : std::string(name_of(level)) + ": ") +
         (plain.find('\\') == plain.npos ? std::string(text) : plain);
}

Result<std::shared_ptr<LogControl>> open_server_log(const LogSettings& settings) {
  UniqueFd file;
  if (!settings.file.empty()) {
    file = UniqueFd(::open(settings.file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
    if (!file) return file_error(errno, "open", settings.file).with("--log-file");
  }
  auto log = std::make_shared<ServerLog>(settings, std::move(file));
  // Until somebody asks for something else, lines are those of any of the program's commands.
  const bool is_plain = settings.format == LogFormat::kPlain && settings.file.empty() && settings.verbose_level == 0 &&
                        settings.info && settings.warning && settings.error;
  if (!is_plain) log->take_over();
  return std::shared_ptr<LogControl>(std::move(log));
}

}  // namespace nereid::server
