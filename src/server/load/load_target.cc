// SPDX-License-Identifier: Apache-2.0
// URLs, and single exchanges with the server before and beside the load.
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/json.h"
#include "base/unique_fd.h"
#include "server/load/load_client.h"
#include "server/load/load_socket.h"
#include "server/load/response_reader.h"

namespace nereid::server::load {
namespace {

constexpr int64_t kPatienceNs = int64_t{30'000'000'000};
constexpr size_t kMaxBody = 16 << 20;

}  // namespace

Result<LoadTarget> parse_target(std::string_view url) {
  constexpr std::string_view kHttp = "http://", kGrpc = "grpc://", kUnix = "unix:";
  if (url.starts_with(kUnix)) return LoadTarget{.host = std::string(url.substr(kUnix.size())), .port = 0, .base = ""};
  if (url.starts_with("https://"))
    return unsupported("the load generator speaks http:// and unix: alone; measure {} behind a plain port", url);
  if (!url.starts_with(kHttp) && !url.starts_with(kGrpc))
    return invalid_argument("'{}' is no URL; write http://HOST:PORT, grpc://HOST:PORT or unix:PATH", url);
  url.remove_prefix(kHttp.size());  // as long as the other
  const size_t slash = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, slash), base = url.substr(slash);
  while (base.ends_with('/')) base.remove_suffix(1);
  if (base.ends_with("/v1")) base.remove_suffix(3);
  LoadTarget target{.host = "", .port = 80, .base = std::string(base)};
  const size_t colon = authority.rfind(':');
  if (colon != authority.npos && authority.find(']', colon) == authority.npos) {
    const std::string_view port = authority.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), target.port);
    if (error != std::errc() || end != port.data() + port.size() || target.port < 1 || target.port > 65535)
      return invalid_argument("'{}' is no port; it is a number from 1 to 65535", port);
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']')) authority = authority.substr(1, authority.size() - 2);
  if (authority.empty()) return invalid_argument("the URL names no host");
  target.host = authority;
  return target;
}

std::string request_text(const LoadTarget& target, std::string_view method, std::string_view path,
                         std::string_view body, std::string_view api_key, const RequestBody& about) {
  std::string text = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\n", method, target.base, path,
                                 target.port == 0 ? "localhost" : fmt::format("{}:{}", target.host, target.port));
  if (!api_key.empty()) text += fmt::format("Authorization: Bearer {}\r\n", api_key);
  text += about.more;
  if (!body.empty()) text += fmt::format("Content-Type: {}\r\nContent-Length: {}\r\n", about.type, body.size());
  return text.append("\r\n").append(body);
}

Result<UniqueFd> connect_to(const LoadTarget& target) {
  if (target.port == 0) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    if (target.host.size() >= sizeof(address.sun_path)) return invalid_argument("the socket's path is too long");
    std::memcpy(address.sun_path, target.host.c_str(), target.host.size());
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      return unavailable("nobody answers at unix:{}: {}", target.host, std::strerror(errno));
    return fd;
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(target.host.c_str(), std::to_string(target.port).c_str(), &hints, &found);
      code != 0)
    return invalid_argument("the host '{}' is not known here: {}", target.host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    UniqueFd fd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (fd && ::connect(fd.get(), one->ai_addr, one->ai_addrlen) == 0) return fd;
    error = errno;
  }
  return unavailable("nobody answers at http://{}:{}: {}", target.host, target.port, std::strerror(error));
}

Result<Exchanged> exchange_once(const LoadTarget& target, std::string_view method, std::string_view path,
                                std::string_view body, std::string_view api_key) {
  NEREID_TRY(const UniqueFd fd, connect_to(target));
  const std::string text = request_text(target, method, path, body, api_key);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t n = ::send(fd.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (n <= 0) return unavailable("the server closed the connection while it was asked for {}", path);
    rest.remove_prefix(static_cast<size_t>(n));
  }
  ResponseReader reader;
  Exchanged exchanged;
  const int64_t deadline_ns = now_ns() + kPatienceNs;
  char bytes[16384];
  while (!reader.is_done() && !reader.is_failed() && exchanged.body.size() < kMaxBody) {
    pollfd one = {.fd = fd.get(), .events = POLLIN, .revents = 0};
    const int64_t wait_ms = (deadline_ns - now_ns()) / 1'000'000;
    if (wait_ms <= 0 || ::poll(&one, 1, static_cast<int>(wait_ms)) == 0)
      return unavailable("the server did not answer {} within {} s", path, kPatienceNs / 1'000'000'000);
    const ssize_t n = ::recv(fd.get(), bytes, sizeof(bytes), 0);
    if (n <= 0) {
      reader.end();
      break;
    }
    reader.feed({bytes, static_cast<size_t>(n)}, [&](std::string_view piece) { exchanged.body += piece; });
  }
  if (!reader.is_done()) return internal("what came for {} is no whole HTTP response", path);
  exchanged.status = reader.status();
  return exchanged;
}

Result<std::string> first_model(const LoadTarget& target, std::string_view api_key) {
  NEREID_TRY(const Exchanged models, exchange_once(target, "GET", "/v1/models", "", api_key));
  if (models.status != 200)
    return unavailable("the server answered {} to /v1/models: {}", models.status, models.body.substr(0, 300));
  NEREID_TRY(const Json json, parse_json(models.body));
  NEREID_TRY(const Json* data, json_array(json, "data"));
  if (data->empty()) return unavailable("the server lists no model");
  return json_string(data->front(), "id");
}

}  // namespace nereid::server::load
