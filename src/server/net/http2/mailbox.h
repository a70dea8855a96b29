// SPDX-License-Identifier: Apache-2.0
// Answers on their way from the threads that make them to the loop of their connection: however many come before it
// looks, it is woken once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "server/net/http2/stream.h"

namespace nereid::server::net::http2 {

class Mailbox {
 public:
  using Letters = std::vector<std::pair<uint32_t, Answer>>;

  explicit Mailbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void put(uint32_t stream, Answer&& answer) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return;
      letters_.emplace_back(stream, std::move(answer));
      if (letters_.size() > 1) return;
    }
    wake_();
  }
  // What has come since the last call, in place of `letters`, whose memory is used again.
  void take(Letters* letters) {
    letters->clear();
    const std::lock_guard lock(mutex_);
    letters->swap(letters_);
  }
  // Nothing more is taken; what was put in is dropped.
  void close() {
    Letters dropped;
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    dropped.swap(letters_);
  }

  // Writers that somebody has.
  void count(int64_t more) { running_.fetch_add(more, std::memory_order_relaxed); }
  int64_t running() const { return running_.load(std::memory_order_relaxed); }

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;
  Letters letters_;
  bool is_closed_ = false;
  std::atomic<int64_t> running_{0};
};

}  // namespace nereid::server::net::http2
