// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>
#include <utility>

namespace nereid {
namespace {

// A slot is free, being filled or armed; only an armed one is read by the handler.
enum SlotState : int { kFree, kFilling, kArmed };

struct Slot {
  std::atomic<int> state{kFree};
  char path[PATH_MAX] = {};
};

static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not take a lock");

std::array<Slot, TempPath::kMaxTempPaths> g_slots;
std::atomic<int> g_signals{0};

void on_signal(int) {
  if (g_signals.fetch_add(1, std::memory_order_relaxed) == 0) return;
  for (Slot& slot : g_slots)
    if (slot.state.load(std::memory_order_acquire) == kArmed) ::unlink(slot.path);
  ::_exit(130);
}

int arm(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (size_t i = 0; i < g_slots.size(); ++i) {
    int expected = kFree;
    if (!g_slots[i].state.compare_exchange_strong(expected, kFilling, std::memory_order_acquire)) continue;
    std::memcpy(g_slots[i].path, path.c_str(), path.size() + 1);
    g_slots[i].state.store(kArmed, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

void install_interrupt_handler() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;  // a first Ctrl-C is a request, not a failed read
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Past `ulimit -f` a write is to fail with a sentence (kExhausted), not to end the process with a half-written file.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

bool interrupted() {
  return g_signals.load(std::memory_order_relaxed) != 0;
}

Status check_interrupted() {
  if (interrupted()) return cancelled("interrupted");
  return {};
}

TempPath::TempPath(std::string path) : path_(std::move(path)), slot_(arm(path_)) {}

TempPath::TempPath(TempPath&& other) noexcept
    : path_(std::exchange(other.path_, {})), slot_(std::exchange(other.slot_, -1)) {}

TempPath& TempPath::operator=(TempPath&& other) noexcept {
  release();
  path_ = std::exchange(other.path_, {});
  slot_ = std::exchange(other.slot_, -1);
  return *this;
}

void TempPath::release() {
  if (slot_ >= 0) g_slots[static_cast<size_t>(slot_)].state.store(kFree, std::memory_order_release);
  slot_ = -1;
  path_.clear();
}

}  // namespace nereid
