// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: the first one asks long work to stop, the second ends the process at once and leaves no temporary file
// behind.
//
// The list of temporary files is a fixed table of strings that a signal handler can walk: no lock, no allocation.
#pragma once

#include <string>

#include "base/status.h"

namespace nereid {

// Handles SIGINT and SIGTERM from now on (and ignores SIGXFSZ). Call it once, early in main(); a library user need not
// call it at all. On the second signal: registered temporary files are unlinked and the process exits with 130.
void install_interrupt_handler();

// True after the first signal. Loops that take longer than about 0.1 s between two looks are too slow.
bool interrupted();
// ok, or kCancelled ("interrupted").
Status check_interrupted();

// A signal-safe promise to remove `path` if the process is interrupted, held for as long as the object lives.
// The object does not remove the file by itself. Thread-safe. When the table is full (kMaxTempPaths alive at once) or
// the path is longer than a path can be, the file is simply not registered.
class TempPath {
 public:
  static constexpr int kMaxTempPaths = 64;

  TempPath() = default;
  explicit TempPath(std::string path);
  TempPath(TempPath&& other) noexcept;
  TempPath& operator=(TempPath&& other) noexcept;
  ~TempPath() { release(); }

  const std::string& path() const { return path_; }
  // Forgets the path: it has its final name now, or is gone.
  void release();

 private:
  std::string path_;
  int slot_ = -1;
};

}  // namespace nereid
