// SPDX-License-Identifier: Apache-2.0
// A loop with its thread and its connections.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "server/net/connection_loop.h"
#include "server/net/http2/connection.h"

namespace nereid::server::net::http2 {

class Reactor final : public ConnectionHost {
 public:
  // `connections` counts those that are open.
  Reactor(const ServerOptions& server_options, std::atomic<int64_t>& connections);
  ConnectionLoop<Connection>& own() { return own_; }
  // Takes over the descriptor. On the loop's thread.
  void add(int fd);

  void forget(Connection& connection) override;
  void expect_by(int64_t at_ns) override { own_.expect_by(at_ns); }
  std::span<char> scratch() override { return scratch_; }
  Mailbox::Letters& letters() override { return letters_; }
  const std::shared_ptr<Loop>& loop() override { return own_.loop(); }

 private:
  std::atomic<int64_t>& open_;
  ConnectionLoop<Connection> own_;
  std::vector<char> scratch_;
  Mailbox::Letters letters_;
};

}  // namespace nereid::server::net::http2
