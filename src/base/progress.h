// SPDX-License-Identifier: Apache-2.0
// How far a long step is: a bar on a terminal, a plain line at each tenth elsewhere, a last line when it is done.
//
//   Progress progress({.what = "packing weights", .total = bytes, .unit = Progress::Unit::bytes});
//   ... progress.add(n) from any thread ...
//   progress.finish();        // without it (an error, an interruption) the bar just goes away
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/clock.h"
#include "base/console.h"

namespace nereid {

struct ProgressOptions;

// add() and set() may be called by many threads; the rest by the one that owns it.
class Progress {
 public:
  enum class Unit { items, bytes };

  // Quiet when the console does not show the level `info`, or options.silent.
  explicit Progress(ProgressOptions options);
  Progress(ProgressOptions options, Console& console, const Clock& clock);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  void add(int64_t n) { moved(done_.fetch_add(n, std::memory_order_relaxed) + n); }
  void set(int64_t done) {
    done_.store(done, std::memory_order_relaxed);
    moved(done);
  }
  void finish();

 private:
  void moved(int64_t done) {
    if (!silent_ && clock_.now_ns() >= next_look_ns_.load(std::memory_order_relaxed)) show(done);
  }
  void show(int64_t done);
  std::string bar(int64_t done, int64_t elapsed_ns) const;
  std::string figures(int64_t done, int64_t elapsed_ns) const;

  const std::string what_;
  const int64_t total_;
  const Unit unit_;
  Console& console_;
  const Clock& clock_;
  const bool silent_;
  const int64_t start_ns_;
  std::atomic<int64_t> done_{0};
  std::atomic<int64_t> next_look_ns_;
  std::mutex mutex_;
  int64_t next_percent_ = 10;  // of plain lines; guarded
  bool finished_ = false;
};

struct ProgressOptions {
  std::string what;   // "packing weights"
  int64_t total = 0;  // 0: not known
  Progress::Unit unit = Progress::Unit::items;
  bool silent = false;
};

// "3 B", "1.5 KiB", "12.3 GiB"; "0.4 s", "12 s", "3 min 05 s", "2 h 03 min".
std::string format_bytes(int64_t bytes);
std::string format_duration(int64_t ns);

}  // namespace nereid
