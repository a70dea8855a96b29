// SPDX-License-Identifier: Apache-2.0
// The transport in the clear.
#include "server/net/transport.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace nereid::server::net {
namespace {

constexpr size_t kMostPieces = 64;  // in one call

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

  Io read_pieces(std::span<const std::span<char>> pieces, size_t* count) override {
    if (pieces.size() == 1) return read(pieces.front().data(), pieces.front().size(), count);
    std::array<iovec, kMostPieces> parts;
    const size_t n = std::min(pieces.size(), kMostPieces);
    for (size_t i = 0; i < n; ++i) parts[i] = {.iov_base = pieces[i].data(), .iov_len = pieces[i].size()};
    for (;;) {
      const ssize_t got = ::readv(fd_, parts.data(), static_cast<int>(n));
      if (got > 0) return *count = static_cast<size_t>(got), Io::kDone;
      if (got == 0) return Io::kEnd;
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

  Io write_pieces(std::span<const std::string_view> pieces, size_t* count) override {
    if (pieces.size() == 1) return write(pieces.front(), count);
    std::array<iovec, kMostPieces> parts;
    const size_t n = std::min(pieces.size(), kMostPieces);
    for (size_t i = 0; i < n; ++i)
      parts[i] = {.iov_base = const_cast<char*>(pieces[i].data()), .iov_len = pieces[i].size()};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = n;
    for (;;) {
      const ssize_t sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
      if (sent >= 0) return *count = static_cast<size_t>(sent), Io::kDone;
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? Io::kWantWrite : Io::kBroken;
    }
  }

  bool keeps_bytes() const override { return false; }
  void end_writes() override { ::shutdown(fd_, SHUT_WR); }

 private:
  const int fd_;
};

}  // namespace

std::unique_ptr<Transport> plain_transport(int fd) {
  return std::make_unique<PlainTransport>(fd);
}

}  // namespace nereid::server::net
