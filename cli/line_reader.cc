// SPDX-License-Identifier: Apache-2.0
#include "cli/line_reader.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/interrupt.h"
#include "cli/input.h"

namespace nereid::cli {
namespace {

constexpr size_t kMaxLineBytes = size_t{64} << 20;

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not take a lock");
std::atomic<bool> g_stop{false};  // a signal handler has nothing else to reach

void on_interrupt(int) {
  if (g_stop.exchange(true, std::memory_order_relaxed)) ::_exit(130);
}

}  // namespace

LineReader::LineReader() : is_terminal_(::isatty(STDIN_FILENO) == 1) {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

LineReader::~LineReader() {
  install_interrupt_handler();
}

bool LineReader::stopped() {
  return g_stop.load(std::memory_order_relaxed) || interrupted();
}

void LineReader::forget_stop() {
  g_stop.store(false, std::memory_order_relaxed);
}

std::optional<std::string> LineReader::next(std::string_view prompt) {
  if (is_terminal_) {
    std::fwrite(prompt.data(), 1, prompt.size(), stderr);
    std::fflush(stderr);
  }
  while (true) {
    if (const size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (stopped()) return std::nullopt;
    if (at_end_ || buffer_.size() > kMaxLineBytes) {
      if (buffer_.empty()) return std::nullopt;
      return std::exchange(buffer_, {});
    }
    pollfd readable{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, kLookAgainMs) <= 0) continue;
    char part[4096];
    const ssize_t n = ::read(STDIN_FILENO, part, sizeof(part));
    if (n > 0) buffer_.append(part, static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) at_end_ = true;
  }
}

}  // namespace nereid::cli
