// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/reactor.h"

#include <unistd.h>

#include <utility>

#include "server/net/doors.h"
#include "server/net/listen.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int64_t kLateNs = 50'000'000;  // of deadlines, at most
constexpr size_t kScratchBytes = 64 << 10;

}  // namespace

Reactor::Reactor(const ServerOptions& server_options, std::atomic<int64_t>& connections)
    : open_(connections), own_(kLateNs), scratch_(kScratchBytes) {
  options = &server_options;
}

void Reactor::add(int fd) {
  if (open_.load() >= options->max_connections) {
    ::close(fd);
    return;
  }
  ++open_;
  set_connection_options(fd);
  auto connection = std::make_shared<Connection>(*this, peer_name(fd));
  own_.add(connection);
  auto transport = options->tls != nullptr ? options->tls->accept(fd) : plain_transport(fd);
  if (!connection->begin(fd, std::move(transport))) forget(*connection);
}

void Reactor::forget(Connection& connection) {
  if (own_.remove(connection)) --open_;
}

}  // namespace nereid::server::net::http2
