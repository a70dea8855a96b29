// SPDX-License-Identifier: Apache-2.0
// The loop by epoll, in as few calls to the system as a request needs: what is waited for stays registered from request
// to request, and a task from the loop's own thread wakes nobody. See docs/decisions for the figures.
#include "server/net/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace nereid::server::net {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLongestWaitMs = 3'600'000;

// A descriptor in the loop. Events of one round may still name it when it is closed, so it stays until that is over.
struct Watched {
  Watched(int descriptor, std::function<void()> ready) : fd(descriptor), on_ready(std::move(ready)) {}
  const int fd;
  std::function<void()> on_ready;
  uint32_t registered = 0;  // what the system tells of; level-triggered, so it tells again while it holds
  uint32_t wanted = 0;      // what is to be called back; a part of `registered`
  bool is_known = false;    // to the system
};

class EpollLoop final : public Loop, public std::enable_shared_from_this<EpollLoop> {
 public:
  EpollLoop() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  bool open() {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;  // the one that wakes
    return epoll_ && wake_ && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0;
  }

  void post(std::function<void()> task) override {
    {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      if (!is_asleep_) return;
      is_asleep_ = false;
    }
    wake();
  }

  void stop() override {
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
    }
    wake();
  }

  bool is_here() const override { return runs_on_ == std::this_thread::get_id(); }

  void run() override {
    runs_on_ = std::this_thread::get_id();
    std::array<epoll_event, kEventsAtOnce> events;
    for (;;) {
      const int wait_ms = begin_wait();
      if (wait_ms < 0) return;
      const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, wait_ms);
      if (!end_wait()) return;
      for (int i = 0; i < count; ++i) deliver(events[static_cast<size_t>(i)]);
      closed_.clear();
      run_tasks();
      if (timer_ != nullptr && now_ns() >= timer_at_ns_) std::exchange(timer_, nullptr)();
    }
  }

  std::unique_ptr<Watch> watch(int fd, std::function<void()> on_ready) override;

  void set_timer(int64_t at_ns, std::function<void()> on_time) override {
    timer_at_ns_ = at_ns;
    timer_ = std::move(on_time);
  }

  // ---- for watches
  void want(Watched& one, uint32_t events) {
    one.wanted |= events;
    if ((one.registered & one.wanted) != one.wanted || !one.is_known) tell(one, one.registered | events);
  }
  void remove(std::shared_ptr<Watched> one) {
    if (one->is_known) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one->fd, nullptr);
    one->is_known = false;
    ::close(one->fd);
    closed_.push_back(std::move(one));
  }
  bool add(Watched& one) {
    epoll_event event = {};
    event.data.ptr = &one;
    return one.is_known = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, one.fd, &event) == 0;
  }

 private:
  void wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);  // full: it wakes anyhow
  }

  // How long to wait; -1: the loop ends.
  int begin_wait() {
    int64_t wait_ms = kLongestWaitMs;
    if (timer_ != nullptr) wait_ms = std::clamp<int64_t>((timer_at_ns_ - now_ns() + kMs - 1) / kMs, 0, kLongestWaitMs);
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return -1;
    if (!tasks_.empty()) return 0;
    is_asleep_ = true;
    return static_cast<int>(wait_ms);
  }

  bool end_wait() {
    const std::lock_guard lock(mutex_);
    is_asleep_ = false;
    return !is_stopped_;
  }

  void tell(Watched& one, uint32_t events) {
    epoll_event event = {};
    event.events = one.registered = events;
    event.data.ptr = &one;
    ::epoll_ctl(epoll_.get(), one.is_known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, one.fd, &event);
    one.is_known = true;
  }

  void deliver(const epoll_event& event) {
    if (event.data.ptr == nullptr) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &count, sizeof count);
      return;
    }
    Watched& one = *static_cast<Watched*>(event.data.ptr);
    if (!one.is_known) return;  // closed in this round
    const bool is_broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
    const uint32_t met = is_broken ? one.wanted : one.wanted & event.events;
    if (met != 0) {
      one.wanted &= ~met;
      one.on_ready();
      return;
    }
    // Nobody asks for it now. What is broken would be told of for ever, whatever is registered.
    if (is_broken) {
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.fd, nullptr);
      one.is_known = false;
    } else {
      tell(one, one.wanted);
    }
  }

  void run_tasks() {
    {
      const std::lock_guard lock(mutex_);
      running_.swap(tasks_);
    }
    for (std::function<void()>& task : running_) task();
    running_.clear();
  }

  const UniqueFd epoll_, wake_;
  std::atomic<std::thread::id> runs_on_{};
  std::vector<std::shared_ptr<Watched>> closed_;
  std::vector<std::function<void()>> running_;
  std::function<void()> timer_;
  int64_t timer_at_ns_ = 0;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  bool is_asleep_ = false, is_stopped_ = false;
};

class EpollWatch final : public Watch {
 public:
  EpollWatch(std::shared_ptr<EpollLoop> loop, std::shared_ptr<Watched> watched)
      : loop_(std::move(loop)), watched_(std::move(watched)) {}
  ~EpollWatch() override { close(); }
  int fd() const override { return watched_ == nullptr ? -1 : watched_->fd; }
  void want_read() override {
    if (watched_ != nullptr) loop_->want(*watched_, EPOLLIN);
  }
  void want_write() override {
    if (watched_ != nullptr) loop_->want(*watched_, EPOLLOUT);
  }
  void close() override {
    if (watched_ != nullptr) loop_->remove(std::exchange(watched_, nullptr));
  }

 private:
  const std::shared_ptr<EpollLoop> loop_;
  std::shared_ptr<Watched> watched_;
};

std::unique_ptr<Watch> EpollLoop::watch(int fd, std::function<void()> on_ready) {
  auto watched = std::make_shared<Watched>(fd, std::move(on_ready));
  if (!add(*watched)) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<EpollWatch>(shared_from_this(), std::move(watched));
}

}  // namespace

std::shared_ptr<Loop> Loop::make() {
  auto loop = std::make_shared<EpollLoop>();
  return loop->open() ? loop : nullptr;
}

}  // namespace nereid::server::net
