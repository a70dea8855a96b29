// SPDX-License-Identifier: Apache-2.0
#include "server/net/exchange.h"

#include <utility>

namespace nereid::server::net {
namespace {

class HandlersEnd final : public Responder {
 public:
  explicit HandlersEnd(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  ~HandlersEnd() override { exchange_->abandon(); }
  void send(Response response) override { exchange_->send(std::move(response)); }
  void start(int status, Headers headers) override { exchange_->start(status, std::move(headers)); }
  bool write(std::string_view bytes) override { return exchange_->write(bytes); }
  void close() override { exchange_->close(); }
  void on_closed(std::function<void()> closed) override { exchange_->on_closed(std::move(closed)); }
  bool is_closed() const override { return exchange_->is_closed(); }

 private:
  const std::shared_ptr<Exchange> exchange_;
};

}  // namespace

std::shared_ptr<Responder> Exchange::responder(std::shared_ptr<Exchange> exchange) {
  return std::make_shared<HandlersEnd>(std::move(exchange));
}

// Wakes the loop, without the lock: it may take it at once.
void Exchange::notify(std::unique_lock<std::mutex>& lock) {
  const bool wake = !std::exchange(is_woken_, true);
  lock.unlock();
  if (wake) wake_();
}

void Exchange::send(Response response) {
  std::unique_lock lock(mutex_);
  if (progress_ != Progress::kNothing || is_broken_) return;
  progress_ = Progress::kEnded;
  closed_ = nullptr;
  part_.has_head = part_.is_whole = part_.is_end = true;
  part_.head = std::move(response);
  notify(lock);
}

void Exchange::start(int status, Headers headers) {
  const std::lock_guard lock(mutex_);
  if (progress_ != Progress::kNothing || is_broken_) return;
  progress_ = Progress::kStarted;
  part_.has_head = true;
  part_.head = {.status = status, .headers = std::move(headers), .body = {}};
}

bool Exchange::write(std::string_view bytes) {
  std::unique_lock lock(mutex_);
  if (progress_ != Progress::kStarted || is_broken_) return false;
  const int64_t waiting = in_flight_ + static_cast<int64_t>(part_.bytes.size());
  if (waiting > 0 && waiting + static_cast<int64_t>(bytes.size()) > queue_bytes_) {
    part_.is_overrun = true;
    is_broken_ = true;
    std::function<void()> closed = std::exchange(closed_, nullptr);
    notify(lock);
    if (closed) closed();
    return false;
  }
  part_.bytes.append(bytes);
  notify(lock);
  return true;
}

void Exchange::close() {
  std::unique_lock lock(mutex_);
  if (progress_ != Progress::kStarted || is_broken_) return;
  progress_ = Progress::kEnded;
  closed_ = nullptr;
  part_.is_end = true;
  notify(lock);
}

void Exchange::on_closed(std::function<void()> closed) {
  {
    const std::lock_guard lock(mutex_);
    if (progress_ == Progress::kEnded) return;
    if (!is_broken_) {
      closed_ = std::move(closed);
      return;
    }
  }
  closed();
}

bool Exchange::is_closed() const {
  const std::lock_guard lock(mutex_);
  return is_broken_;
}

void Exchange::abandon() {
  std::unique_lock lock(mutex_);
  closed_ = nullptr;
  if (progress_ == Progress::kEnded || is_broken_) return;
  part_.is_abandoned = true;
  part_.is_end = true;
  progress_ = Progress::kEnded;
  notify(lock);
}

Exchange::Part Exchange::take(int64_t in_flight) {
  const std::lock_guard lock(mutex_);
  is_woken_ = false;
  Part part = std::exchange(part_, {});
  in_flight_ = in_flight + static_cast<int64_t>(part.bytes.size());
  // A head waits for the first bytes, which then leave with it.
  if (part.has_head && !part.is_end && part.bytes.empty() && !part.is_overrun) {
    part_.has_head = true;
    part_.head = std::move(part.head);
    part.has_head = false;
  }
  return part;
}

void Exchange::set_in_flight(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  in_flight_ = bytes;
}

void Exchange::break_off() {
  std::function<void()> closed;
  {
    const std::lock_guard lock(mutex_);
    if (is_broken_) return;
    is_broken_ = true;
    if (progress_ != Progress::kEnded) closed = std::exchange(closed_, nullptr);
  }
  if (closed) closed();
}

}  // namespace nereid::server::net
