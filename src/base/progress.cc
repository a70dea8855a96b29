// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nereid {
namespace {

constexpr int64_t kRedrawNs = 100'000'000;           // at most 10 times a second
constexpr int64_t kUnknownTotalNs = 10'000'000'000;  // a plain line this often when there are no tenths

const SystemClock& system_clock() {
  static const SystemClock clock;
  return clock;
}

constexpr size_t kFiguresColumns = 54;  // about what figures take: the bar keeps its length

std::string format_count(int64_t n, Progress::Unit unit) {
  return unit == Progress::Unit::bytes ? format_bytes(n) : fmt::format("{}", n);
}

}  // namespace

Progress::Progress(ProgressOptions options) : Progress(std::move(options), stderr_console(), system_clock()) {}

Progress::Progress(ProgressOptions options, Console& console, const Clock& clock)
    : what_(std::move(options.what)),
      total_(options.total),
      unit_(options.unit),
      console_(console),
      clock_(clock),
      silent_(options.silent || !console.enabled(LogLevel::info)),
      start_ns_(clock.now_ns()),
      next_look_ns_(start_ns_ + (total_ > 0 || console.is_terminal() ? kRedrawNs : kUnknownTotalNs)) {}

Progress::~Progress() {
  if (!silent_) console_.status("");
}

void Progress::show(int64_t done) {
  // Whoever comes while another thread draws has nothing to add.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || finished_) return;
  const int64_t now = clock_.now_ns(), elapsed = now - start_ns_;
  if (console_.is_terminal()) {
    next_look_ns_.store(now + kRedrawNs, std::memory_order_relaxed);
    console_.status(bar(done, elapsed));
    return;
  }
  if (total_ <= 0) {
    next_look_ns_.store(now + kUnknownTotalNs, std::memory_order_relaxed);
    console_.line(LogLevel::info, fmt::format("{}: {}", what_, figures(done, elapsed)));
    return;
  }
  next_look_ns_.store(now + kRedrawNs, std::memory_order_relaxed);
  const auto percent = static_cast<int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total_));
  if (percent < next_percent_ || percent >= 100) return;  // finish() says the last one
  next_percent_ = percent / 10 * 10 + 10;
  console_.line(LogLevel::info, fmt::format("{}: {} %, {}", what_, percent, figures(done, elapsed)));
}

void Progress::finish() {
  if (silent_) return;
  {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    finished_ = true;
  }
  const int64_t done = done_.load(std::memory_order_relaxed), elapsed = clock_.now_ns() - start_ns_;
  console_.status("");
  console_.line(LogLevel::info,
                fmt::format("{}: done, {} in {}", what_, format_count(done, unit_), format_duration(elapsed)));
}

// "1.2 of 3.0 GiB, 310 MiB/s, 6 s left"; the rate is that of all so far.
std::string Progress::figures(int64_t done, int64_t elapsed_ns) const {
  const double seconds = static_cast<double>(elapsed_ns) * 1e-9;
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = format_count(done, unit_);
  if (total_ > 0) text += fmt::format(" of {}", format_count(total_, unit_));
  if (rate > 0) {
    text += unit_ == Unit::bytes ? fmt::format(", {}/s", format_bytes(static_cast<int64_t>(rate)))
                                 : fmt::format(", {:.{}f}/s", rate, rate < 10 ? 1 : 0);
    if (total_ > done)
      text += fmt::format(", {} left",
                          format_duration(static_cast<int64_t>(static_cast<double>(total_ - done) / rate * 1e9)));
  }
  return text;
}

// "packing weights [=====>     ]  45 %  1.2 of ..."; on a narrow terminal first the bar goes, then the end.
std::string Progress::bar(int64_t done, int64_t elapsed_ns) const {
  const auto width = static_cast<size_t>(std::max(console_.columns() - 1, 1));
  std::string left = what_, right = figures(done, elapsed_ns);
  if (total_ > 0) {
    const double share = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
    right = fmt::format("{:3.0f} %  {}", share * 100, right);
    const size_t others = left.size() + kFiguresColumns + 5;
    const size_t room = width > others ? width - others : 0;
    const size_t cells = std::min<size_t>(room, 30);
    if (cells >= 5) {
      const auto filled = static_cast<size_t>(share * static_cast<double>(cells));
      std::string drawn(filled, '=');
      if (filled < cells) drawn += '>';
      drawn.resize(cells, ' ');
      left += fmt::format(" [{}]", drawn);
    }
  }
  std::string text = fmt::format("{}  {}", left, right);
  if (text.size() > width) text.resize(width);
  return text;
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_duration(int64_t ns) {
  const double seconds = static_cast<double>(ns) * 1e-9;
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace nereid
