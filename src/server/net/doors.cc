// SPDX-License-Identifier: Apache-2.0
#include "server/net/doors.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/log.h"

namespace nereid::server::net {

Status Doors::open(const std::vector<Listener>& listeners, Loop& loop, std::function<void(int fd)> take) {
  take_ = std::move(take);
  for (const Listener& listener : listeners) {
    const int fd = ::fcntl(listener.fd.get(), F_DUPFD_CLOEXEC, 0);
    const size_t index = doors_.size();
    auto door = fd < 0 ? nullptr : loop.watch(fd, [this, index] { accept_some(*doors_[index]); });
    if (door == nullptr) return unavailable("the system has no room for one more descriptor");
    door->want_read();
    doors_.push_back(std::move(door));
    if (!listener.unix_path.empty()) unix_paths_.push_back(listener.unix_path);
  }
  return Status::ok();
}

void Doors::close() {
  for (const auto& door : doors_) door->close();
  for (const std::string& path : unix_paths_) ::unlink(path.c_str());
}

void Doors::accept_some(Watch& door) {
  constexpr int kAtOnce = 64;
  for (int i = 0; i < kAtOnce; ++i) {
    const int fd = ::accept4(door.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      take_(fd);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) break;
    // No descriptors or no memory: the waiting connections wait on, and this thread does not spin meanwhile.
    warn_once("accept", "connections cannot be accepted at the moment: {}", std::strerror(errno));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    break;
  }
  door.want_read();
}

void set_connection_options(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

}  // namespace nereid::server::net
