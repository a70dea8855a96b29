// SPDX-License-Identifier: Apache-2.0
// For tests only: a client on a plain socket that says exactly what it is told, and a server to say it to.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "server/net/server.h"

namespace nereid::server::net::testing {

constexpr int64_t kPatienceNs = int64_t{10'000'000'000};

// An endpoint for whoever has a key.
inline Endpoint row(std::string method, std::string pattern, Handler handle, Runs runs = Runs::kOnWorker) {
  return {.method = std::move(method),
          .pattern = std::move(pattern),
          .summary = "",
          .handle = std::move(handle),
          .access = Access::kKey,
          .runs = runs};
}
// POST /echo answers with the body.
inline Endpoint echo() {
  return row("POST", "/echo", [](Request r, std::shared_ptr<Responder> out) { out->send(text_response(200, r.body)); });
}

class TestClient {
 public:
  explicit TestClient(int port, int receive_bytes = 0) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_bytes > 0) ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
  }
  bool connected() const { return connected_; }

  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  // What came so far up to and including `end`; all that came where the connection ended (or patience did) before.
  std::string read_until(std::string_view end) {
    const int64_t deadline = now_ns() + kPatienceNs;
    while (got_.find(end) == std::string::npos && read_more(deadline)) {
    }
    const size_t at = got_.find(end);
    return take(at == std::string::npos ? got_.size() : at + end.size());
  }
  std::string read_to_end() {
    const int64_t deadline = now_ns() + kPatienceNs;
    while (read_more(deadline)) {
    }
    return take(got_.size());
  }
  // One response with a Content-Length.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    const size_t at = head.find("Content-Length: ");
    if (at == std::string::npos) return head;
    const size_t bytes = static_cast<size_t>(std::stoul(head.substr(at + 16)));
    const int64_t deadline = now_ns() + kPatienceNs;
    while (got_.size() < bytes && read_more(deadline)) {
    }
    return head + take(std::min(bytes, got_.size()));
  }
  bool is_ended() {
    read_to_end();
    return is_ended_;
  }
  void end_writes() { ::shutdown(fd_.get(), SHUT_WR); }
  void vanish() { fd_ = UniqueFd(); }

 private:
  bool read_more(int64_t deadline_ns) {
    pollfd one = {.fd = fd_.get(), .events = POLLIN, .revents = 0};
    const int64_t wait_ms = (deadline_ns - now_ns()) / 1'000'000;
    if (is_ended_ || wait_ms <= 0 || ::poll(&one, 1, static_cast<int>(wait_ms)) <= 0) return false;
    char bytes[16384];
    const ssize_t n = ::recv(fd_.get(), bytes, sizeof(bytes), 0);
    if (n <= 0) return is_ended_ = true, false;
    got_.append(bytes, static_cast<size_t>(n));
    return true;
  }
  std::string take(size_t bytes) {
    std::string text = got_.substr(0, bytes);
    got_.erase(0, bytes);
    return text;
  }
  UniqueFd fd_;
  std::string got_;
  bool connected_ = false, is_ended_ = false;
};

inline int status_of(std::string_view response) {
  return response.size() > 12 && response.starts_with("HTTP/1.1 ") ? std::stoi(std::string(response.substr(9, 3))) : 0;
}

inline std::string get(std::string_view target, std::string_view headers = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: test\r\n{}\r\n", target, headers);
}
inline std::string post(std::string_view target, std::string_view body, std::string_view headers = "") {
  return fmt::format("POST {} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n{}\r\n{}", target, body.size(), headers,
                     body);
}

// True as soon as `done` is, false when patience ends.
template <typename Done>
bool eventually(Done done) {
  for (const int64_t deadline = now_ns() + kPatienceNs; now_ns() < deadline;) {
    if (done()) return true;
    ::poll(nullptr, 0, 2);
  }
  return false;
}

// A server on a free port that ends with the test.
struct TestServer {
  explicit TestServer(std::vector<Endpoint> endpoints, Settings settings = {}, ServerOptions options = {}) {
    options.port = 0;
    options.settings = settings;
    options.router.add(std::move(endpoints));
    server = Server::start(std::move(options)).value();
  }
  TestClient client(int receive_bytes = 0) { return TestClient(server->port(), receive_bytes); }
  std::string ask(std::string_view request) {
    TestClient one = client();
    one.send(request);
    return one.read_response();
  }
  std::unique_ptr<Server> server;
};

}  // namespace nereid::server::net::testing
