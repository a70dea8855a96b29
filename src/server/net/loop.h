// SPDX-License-Identifier: Apache-2.0
// An event loop: descriptors that become ready, tasks from other threads, one timer. The system's epoll is behind it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace nereid::server::net {

// One descriptor in a loop. Only on the loop's thread.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual int fd() const = 0;
  // Calls back once, when the descriptor can be read or written (or is broken), at once where it can be already; asking
  // again while a call is due changes nothing.
  virtual void want_read() = 0;
  virtual void want_write() = 0;
  // Closes the descriptor; nothing is called back after it.
  virtual void close() = 0;
};

class Loop {
 public:
  // nullptr where the system has no room for its descriptors.
  static std::shared_ptr<Loop> make();
  virtual ~Loop() = default;

  // Any thread. A task posted after stop() may never run.
  virtual void post(std::function<void()> task) = 0;
  virtual void stop() = 0;
  // Whether the calling thread is the one in run().
  virtual bool is_here() const = 0;

  // Returns after stop(). The thread sleeps while nothing is ready.
  virtual void run() = 0;

  // Only on the loop's thread, or before run().
  // Takes over the descriptor, which must be non-blocking. nullptr (and it is closed) where the system has no room.
  virtual std::unique_ptr<Watch> watch(int fd, std::function<void()> on_ready) = 0;
  // Replaces what was set before.
  virtual void set_timer(int64_t at_ns, std::function<void()> on_time) = 0;
};

}  // namespace nereid::server::net
