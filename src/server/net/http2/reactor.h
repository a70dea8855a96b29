// SPDX-License-Identifier: Apache-2.0
// A loop with its thread and its connections.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "server/net/http2/connection.h"

namespace nereid::server::net::http2 {

class Reactor final : public ConnectionHost {
 public:
  // `connections` counts those that are open.
  Reactor(const ServerOptions& server_options, std::atomic<int64_t>& connections);
  void start();
  // The thread has ended when it returns, and all connections with it.
  void stop();
  // Takes over the descriptor. On the loop's thread.
  void add(int fd);
  void each(const std::function<void(Connection&)>& visit);

  void forget(Connection& connection) override;
  void expect_by(int64_t at_ns) override;
  std::span<char> scratch() override { return scratch_; }
  Mailbox::Letters& letters() override { return letters_; }
  const std::shared_ptr<Loop>& loop() override { return loop_; }

 private:
  void sweep();
  std::atomic<int64_t>& open_;
  std::shared_ptr<Loop> loop_ = Loop::make();
  std::unordered_map<Connection*, std::shared_ptr<Connection>> connections_;
  std::vector<char> scratch_;
  Mailbox::Letters letters_;
  int64_t timer_at_ns_ = Connection::kNever;
  std::thread thread_;
};

}  // namespace nereid::server::net::http2
