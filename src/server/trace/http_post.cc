// SPDX-License-Identifier: Apache-2.0
#include "server/trace/http_post.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace nereid::server::trace {
namespace {

struct Address {
  std::string host, port, path;
};

Result<Address> parse(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme))
    return invalid_argument("'{}' is no address that begins with http://; send traces to a collector on this machine",
                            url);
  const size_t slash = url.find('/', kScheme.size());
  std::string where = url.substr(kScheme.size(), slash == url.npos ? url.npos : slash - kScheme.size());
  Address out{.host = where, .port = "80", .path = slash == url.npos ? "/" : url.substr(slash)};
  const size_t colon = where.rfind(':');
  if (colon != where.npos && where.find(']', colon) == where.npos)
    out.host = where.substr(0, colon), out.port = where.substr(colon + 1);
  if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']')
    out.host = out.host.substr(1, out.host.size() - 2);
  if (out.host.empty() || url.find_first_of(" \r\n") != url.npos)
    return invalid_argument("'{}' is no address; write http://HOST:PORT/PATH", url);
  return out;
}

Result<UniqueFd> connect_to(const Address& address) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found); code != 0)
    return unavailable("the host '{}' is not known: {}", address.host, ::gai_strerror(code));
  UniqueFd fd;
  int error_number = ECONNREFUSED;
  for (const addrinfo* one = found; one != nullptr && !fd; one = one->ai_next) {
    UniqueFd made(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, one->ai_protocol));
    const timeval limit = {.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (made && ::connect(made.get(), one->ai_addr, one->ai_addrlen) == 0) {
      fd = std::move(made);
    } else {
      error_number = errno;
    }
  }
  ::freeaddrinfo(found);
  if (!fd) return unavailable("nobody answers at {}:{}: {}", address.host, address.port, std::strerror(error_number));
  return fd;
}

}  // namespace

Status http_post(const std::string& url, std::string_view content_type, std::string_view body) {
  NEREID_TRY(const Address address, parse(url));
  NEREID_TRY(const UniqueFd fd, connect_to(address));
  std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
      address.path, address.host, address.port, content_type, body.size());
  request += body;
  for (std::string_view left = request; !left.empty();) {
    const ssize_t n = ::send(fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return unavailable("{} took only a part of what was sent", url);
    left.remove_prefix(static_cast<size_t>(n));
  }
  std::string answer;
  char part[1024];
  while (answer.find("\r\n") == answer.npos && answer.size() < sizeof part) {
    const ssize_t n = ::recv(fd.get(), part, sizeof part, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return unavailable("{} did not answer", url);
    answer.append(part, static_cast<size_t>(n));
  }
  // "HTTP/1.1 200 OK"
  if (answer.size() > 9 && answer.starts_with("HTTP/1.") && answer[9] == '2') return Status::ok();
  return unavailable("{} answered '{}'", url, answer.substr(0, answer.find("\r\n")));
}

}  // namespace nereid::server::trace
