// SPDX-License-Identifier: Apache-2.0
// The transport in the clear.
#include "server/net/transport.h"

#include <errno.h>
#include <sys/socket.h>

namespace nereid::server::net {
namespace {

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(int fd) : fd_(fd) {}
  Io handshake() override { return Io::kDone; }

  Io read(char* bytes, size_t most, size_t* count) override {
    for (;;) {
      const ssize_t n = ::recv(fd_, bytes, most, 0);
      if (n > 0) return *count = static_cast<size_t>(n), Io::kDone;
      if (n == 0) return Io::kEnd;
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Io::kWantRead : Io::kBroken;
    }
  }

  Io write(std::string_view bytes, size_t* count) override {
    for (;;) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n >= 0) return *count = static_cast<size_t>(n), Io::kDone;
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Io::kWantWrite : Io::kBroken;
    }
  }

  void end_writes() override { ::shutdown(fd_, SHUT_WR); }

 private:
  const int fd_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int fd) {
  return std::make_unique<PlainTransport>(fd);
}

}  // namespace nereid::server::net
