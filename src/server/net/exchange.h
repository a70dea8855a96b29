// SPDX-License-Identifier: Apache-2.0
// One response between the threads that make it and the loop that sends it: a bounded queue, and how each side learns
// that the other has ended.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "server/net/http.h"

namespace nereid::server::net {

class Exchange {
 public:
  // `wake` is called, on the thread that writes, when there is something to take() and was nothing before.
  Exchange(int64_t queue_bytes, std::function<void()> wake) : queue_bytes_(queue_bytes), wake_(std::move(wake)) {}

  // The responder of a handler; its end without an answer is the exchange's. Once.
  static std::shared_ptr<Responder> responder(std::shared_ptr<Exchange> exchange);

  // ---- the handler's side; see Responder. Any thread.
  void send(Response response);
  void start(int status, Headers headers);
  bool write(std::string_view bytes);
  void close();
  void on_closed(std::function<void()> closed);
  bool is_closed() const;
  void abandon();

  // ---- the loop's side
  struct Part {
    bool has_head = false;  // of which `head` holds status and headers; the body, too, where it is whole
    bool is_whole = false;
    bool is_end = false;      // nothing follows
    bool is_overrun = false;  // the client was too slow
    bool is_abandoned = false;
    Response head;
    std::string bytes;  // of a stream
  };
  // What has come since the last call. `in_flight` bytes taken before are not with the client yet.
  Part take(int64_t in_flight);
  void set_in_flight(int64_t bytes);
  // The response cannot reach the client any more; calls what on_closed() was given.
  void break_off();

 private:
  enum class Progress { kNothing, kStarted, kEnded };
  void notify(std::unique_lock<std::mutex>& lock);

  const int64_t queue_bytes_;
  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  Progress progress_ = Progress::kNothing;
  bool is_broken_ = false;  // the client is gone
  bool is_woken_ = false;
  int64_t in_flight_ = 0;
  Part part_;
  std::function<void()> closed_;
};

}  // namespace nereid::server::net
