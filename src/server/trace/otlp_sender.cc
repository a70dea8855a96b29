// SPDX-License-Identifier: Apache-2.0
#include "server/trace/otlp_sender.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "server/trace/http_post.h"
#include "server/trace/otlp_spans.h"

namespace nereid::server::trace {
namespace {

int64_t unix_offset_ns() {
  using std::chrono::system_clock;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch());
  return now.count() - now_ns();
}

class ThreadSender final : public OtlpSender {
 public:
  explicit ThreadSender(OtlpOptions options) : options_(std::move(options)), thread_([this] { work(); }) {}
  ~ThreadSender() override {
    {
      const std::lock_guard lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  void add(FinishedTrace trace) override {
    const std::lock_guard lock(mutex_);
    if (static_cast<int64_t>(waiting_.size()) >= options_.max_queue) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(trace));
    if (static_cast<int64_t>(waiting_.size()) >= options_.max_batch) changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait_for(lock, std::chrono::milliseconds(options_.delay_ms),
                        [this] { return is_ended_ || static_cast<int64_t>(waiting_.size()) >= options_.max_batch; });
      const bool is_over = is_ended_;
      while (!waiting_.empty()) {
        std::vector<FinishedTrace> batch;
        while (!waiting_.empty() && static_cast<int64_t>(batch.size()) < options_.max_batch) {
          batch.push_back(std::move(waiting_.front()));
          waiting_.pop_front();
        }
        const uint64_t dropped = std::exchange(dropped_, 0);
        lock.unlock();
        if (dropped > 0)
          log_warn("{} traces were dropped: {} were waiting to be sent already", dropped, options_.max_queue);
        const bool is_sent = send(batch);
        lock.lock();
        if (!is_sent && is_over) return;
      }
      if (is_over) return;
    }
  }

  bool send(const std::vector<FinishedTrace>& batch) {
    const SpanIds ids{.random = [this] { return random_(); }, .unix_offset_ns = unix_offset_ns()};
    std::vector<std::string> spans;
    for (const FinishedTrace& trace : batch)
      for (std::string& span : spans_of(trace, ids)) spans.push_back(std::move(span));
    const Status status = http_post(options_.url, "application/json", export_text(spans, options_.resource));
    if (!status.is_ok()) warn_once("otlp", "traces are lost: {}", status.message());
    return status.is_ok();
  }

  const OtlpOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FinishedTrace> waiting_;
  uint64_t dropped_ = 0;
  bool is_ended_ = false;
  std::mt19937_64 random_{[] {
    std::random_device device;
    return (uint64_t{device()} << 32) ^ device();
  }()};                 // of the thread
  std::thread thread_;  // the last: it uses the others
};

}  // namespace

std::shared_ptr<OtlpSender> OtlpSender::start(OtlpOptions options) {
  return std::make_shared<ThreadSender>(std::move(options));
}

}  // namespace nereid::server::trace
