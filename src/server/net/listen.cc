// SPDX-License-Identifier: Apache-2.0
#include "server/net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace nereid::server::net {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

std::string reason(int code) {
  return std::strerror(code);
}

std::string address_name(const sockaddr_storage& address, int* port) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof(in));
    *port = ntohs(in.sin_port);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
    return text;
  }
  if (address.ss_family != AF_INET6) return "unix";
  sockaddr_in6 in;
  std::memcpy(&in, &address, sizeof(in));
  *port = ntohs(in.sin6_port);
  ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof(text));
  return fmt::format("[{}]", text);
}

// A socket file that nobody listens on is what a killed server left behind.
bool is_stale(const sockaddr_un& address) {
  struct stat info = {};
  if (::lstat(address.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return probe && ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
         errno == ECONNREFUSED;
}

Result<std::vector<Listener>> listen_on_unix(const std::string& path, int backlog) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    return invalid_argument("the path of a Unix socket has 1 to {} bytes, found {}", sizeof(address.sun_path) - 1,
                            path.size());
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return unavailable("the system gives no socket: {}", reason(errno));
  if (is_stale(address)) ::unlink(path.c_str());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return unavailable("the Unix socket {} cannot be made: {}", path, reason(errno));
  if (::listen(fd.get(), backlog) != 0) return unavailable("{} cannot be listened on: {}", path, reason(errno));
  std::vector<Listener> listeners;
  listeners.push_back({.fd = std::move(fd), .port = 0, .url_host = std::string(kUnixPrefix) + path, .unix_path = path});
  return listeners;
}

Result<Listener> listen_on_address(const addrinfo& info, int port, int backlog, bool is_only) {
  sockaddr_storage address = {};
  std::memcpy(&address, info.ai_addr, std::min<size_t>(info.ai_addrlen, sizeof(address)));
  if (info.ai_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(&address)->sin_port = htons(static_cast<uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in6*>(&address)->sin6_port = htons(static_cast<uint16_t>(port));
  }
  int ignored = 0;
  const std::string name = address_name(address, &ignored);
  UniqueFd fd(::socket(info.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return unavailable("the system gives no socket for {}: {}", name, reason(errno));
  const int on = 1, v6_only = is_only ? 0 : 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (info.ai_family == AF_INET6) ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), info.ai_addrlen) != 0 ||
      ::listen(fd.get(), backlog) != 0)
    return unavailable("{}:{} cannot be listened on: {}; choose another address or port", name, port, reason(errno));
  socklen_t bytes = sizeof(address);
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  Listener listener{.fd = std::move(fd), .port = 0, .url_host = {}, .unix_path = {}};
  listener.url_host = address_name(address, &listener.port);
  return listener;
}

}  // namespace

Result<std::vector<Listener>> listen_on(const std::string& host, int port, int backlog) {
  if (host.starts_with(kUnixPrefix)) return listen_on_unix(host.substr(kUnixPrefix.size()), backlog);
  if (port < 0 || port > 65535) return invalid_argument("a port is a number from 0 to 65535, found {}", port);
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  // Brackets as in a URL.
  const std::string bare = host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
  if (const int code = ::getaddrinfo(bare.c_str(), nullptr, &hints, &found); code != 0)
    return invalid_argument("the host '{}' is not known here: {}", host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
  std::vector<Listener> listeners;
  Status first_error;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    // A free port is chosen once, for all addresses.
    const int wanted = port == 0 && !listeners.empty() ? listeners[0].port : port;
    Result<Listener> listener = listen_on_address(*one, wanted, backlog, found->ai_next == nullptr);
    if (listener.is_ok()) listeners.push_back(std::move(*listener));
    if (!listener.is_ok() && first_error.is_ok()) first_error = listener.status();
    // A name for an address that this machine lacks (::1 where there is no IPv6) is no failure; a taken port is.
    if (!listener.is_ok() && port != 0 && errno == EADDRINUSE) return first_error;
  }
  if (listeners.empty())
    return first_error.is_ok() ? unavailable("'{}' has no address to listen on", host) : first_error;
  return listeners;
}

std::string peer_name(int fd) {
  sockaddr_storage address = {};
  socklen_t bytes = sizeof(address);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) return "unknown";
  int port = -1;
  std::string name = address_name(address, &port);
  return port < 0 ? name : fmt::format("{}:{}", name, port);
}

int64_t raise_open_files(int64_t wanted) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  const auto most = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_max, rlim_t{1} << 30));
  const auto now = static_cast<int64_t>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 30));
  if (now >= wanted) return now;
  limit.rlim_cur = static_cast<rlim_t>(std::min(most, wanted));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<int64_t>(limit.rlim_cur) : now;
}

}  // namespace nereid::server::net
