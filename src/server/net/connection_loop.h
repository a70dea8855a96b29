// SPDX-License-Identifier: Apache-2.0
// A loop with its thread and its connections, of which it knows when the next one is due. A Connection has
//   int64_t deadline_ns() const   INT64_MAX: nothing is due
//   void on_deadline(int64_t at_ns), void close()
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/net/loop.h"
#include "server/net/worker_pool.h"

namespace nereid::server::net {

// All but loop(), start() and stop() on the loop's thread.
template <typename Connection>
class ConnectionLoop {
 public:
  // Deadlines are met at most `late_ns` late.
  explicit ConnectionLoop(int64_t late_ns) : late_ns_(late_ns) {}

  // nullptr where the system had no room for it.
  const std::shared_ptr<Loop>& loop() const { return loop_; }

  void start() {
    thread_ = std::thread([this] {
      block_signals();
      loop_->run();
    });
  }
  // The thread has ended when it returns, and all connections with it.
  void stop() {
    loop_->post([this] {
      each([](Connection& one) { one.close(); });
      loop_->stop();
    });
    if (thread_.joinable()) thread_.join();
  }

  void add(std::shared_ptr<Connection> connection) {
    Connection* const raw = connection.get();
    connections_.emplace(raw, std::move(connection));
  }
  // False: it was not there.
  bool remove(Connection& connection) { return connections_.erase(&connection) > 0; }

  // A visited connection may remove itself.
  void each(const std::function<void(Connection&)>& visit) {
    std::vector<std::shared_ptr<Connection>> all;
    for (const auto& one : connections_) all.push_back(one.second);
    for (const std::shared_ptr<Connection>& one : all) visit(*one);
  }

  // Something is due earlier than before.
  void expect_by(int64_t at_ns) {
    if (at_ns >= timer_at_ns_) return;
    timer_at_ns_ = std::max(at_ns, now_ns() + late_ns_);
    loop_->set_timer(timer_at_ns_, [this] { sweep(); });
  }

 private:
  void sweep() {
    const int64_t now = now_ns();
    std::vector<std::shared_ptr<Connection>> due;
    int64_t next = INT64_MAX;
    for (const auto& [raw, one] : connections_) {
      const int64_t at_ns = one->deadline_ns();
      if (at_ns <= now) {
        due.push_back(one);
      } else {
        next = std::min(next, at_ns);
      }
    }
    timer_at_ns_ = INT64_MAX;
    expect_by(next);
    for (const std::shared_ptr<Connection>& one : due) one->on_deadline(now);
  }

  const int64_t late_ns_;
  const std::shared_ptr<Loop> loop_ = Loop::make();
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  int64_t timer_at_ns_ = INT64_MAX;
  std::thread thread_;
};

// A server's loops, of which the first accepts. A Reactor has loop(), own() as a ConnectionLoop, and add(fd), which
// takes over a descriptor on its thread.
template <typename Reactor>
using Reactors = std::vector<std::unique_ptr<Reactor>>;

// Gives a new connection to the loops by turns. On the first one's thread.
template <typename Reactor>
void hand_over(const Reactors<Reactor>& reactors, size_t& turn, int fd) {
  Reactor& reactor = *reactors[turn++ % reactors.size()];
  if (&reactor == reactors[0].get()) {
    reactor.add(fd);
  } else {
    reactor.loop()->post([&reactor, fd] { reactor.add(fd); });
  }
}

// Any thread; does not wait.
template <typename Reactor, typename Visit>
void visit_all(const Reactors<Reactor>& reactors, Visit visit) {
  for (const auto& reactor : reactors) reactor->loop()->post([r = reactor.get(), visit] { r->own().each(visit); });
}

}  // namespace nereid::server::net
