// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/reactor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "server/net/listen.h"
#include "server/net/worker_pool.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int64_t kSweepNs = 50'000'000;  // deadlines are met at most so late
constexpr size_t kScratchBytes = 64 << 10;

}  // namespace

Reactor::Reactor(const ServerOptions& server_options, std::atomic<int64_t>& connections)
    : open_(connections), scratch_(kScratchBytes) {
  options = &server_options;
}

void Reactor::start() {
  thread_ = std::thread([this] {
    block_signals();
    loop_->run();
  });
}

void Reactor::stop() {
  loop_->post([this] {
    each([](Connection& one) { one.close(); });
    loop_->stop();
  });
  if (thread_.joinable()) thread_.join();
}

void Reactor::add(int fd) {
  if (open_.load() >= options->max_connections) {
    ::close(fd);
    return;
  }
  ++open_;
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  auto connection = std::make_shared<Connection>(*this, peer_name(fd));
  connections_.emplace(connection.get(), connection);
  auto transport = options->tls != nullptr ? options->tls->accept(fd) : plain_transport(fd);
  if (!connection->begin(fd, std::move(transport))) forget(*connection);
}

void Reactor::each(const std::function<void(Connection&)>& visit) {
  std::vector<std::shared_ptr<Connection>> all;
  for (const auto& one : connections_) all.push_back(one.second);
  for (const std::shared_ptr<Connection>& one : all) visit(*one);
}

void Reactor::forget(Connection& connection) {
  if (connections_.erase(&connection) > 0) --open_;
}

void Reactor::expect_by(int64_t at_ns) {
  if (at_ns >= timer_at_ns_) return;
  timer_at_ns_ = std::max(at_ns, now_ns() + kSweepNs);
  loop_->set_timer(timer_at_ns_, [this] { sweep(); });
}

void Reactor::sweep() {
  const int64_t now = now_ns();
  std::vector<std::shared_ptr<Connection>> due;
  int64_t next = Connection::kNever;
  for (const auto& [raw, one] : connections_) {
    const int64_t at_ns = one->deadline_ns();
    if (at_ns <= now) {
      due.push_back(one);
    } else {
      next = std::min(next, at_ns);
    }
  }
  timer_at_ns_ = Connection::kNever;
  if (next != Connection::kNever) expect_by(next);
  for (const std::shared_ptr<Connection>& one : due) one->on_deadline(now);
}

}  // namespace nereid::server::net::http2
