// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/server.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/net/connection_loop.h"
#include "server/net/doors.h"
#include "server/net/http2/reactor.h"
#include "server/net/listen.h"

namespace nereid::server::net::http2 {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kFlushMs = 500;  // for the last answers at the end
constexpr int kBacklog = 1024;
constexpr int64_t kSpareFiles = 128;

class RunningServer final : public Server {
 public:
  explicit RunningServer(ServerOptions options) : options_(std::move(options)) {}
  ~RunningServer() override {
    close_doors();
    for (const auto& reactor : reactors_) reactor->own().stop();
  }

  Status open() {
    NEREID_TRY(std::vector<Listener> listeners, listen_on(options_.host, options_.port, kBacklog));
    raise_open_files(options_.max_connections + kSpareFiles);
    port_ = listeners[0].port;
    Reactors<Reactor> reactors;
    for (int i = 0; i < options_.loop_threads; ++i) {
      reactors.push_back(std::make_unique<Reactor>(options_, connections_));
      if (reactors.back()->loop() == nullptr)
        return unavailable("the system has no room for the descriptors of an event loop");
    }
    NEREID_RETURN_IF_ERROR(
        doors_.open(listeners, *reactors[0]->loop(), [this](int fd) { hand_over(reactors_, next_reactor_, fd); }));
    reactors_ = std::move(reactors);
    for (const auto& reactor : reactors_) reactor->own().start();
    return Status::ok();
  }

  int port() const override { return port_; }
  int64_t connections() const override { return connections_.load(); }

  bool drain(int64_t timeout_ms) override {
    close_doors();
    visit_all(reactors_, [](Connection& one) { one.drain(); });
    return wait_until(now_ns() + std::max(timeout_ms, kFlushMs) * kMs, [this] { return connections_.load() == 0; });
  }

 private:
  bool wait_until(int64_t deadline_ns, const std::function<bool()>& done) {
    constexpr auto kStep = std::chrono::milliseconds(5);
    while (!done()) {
      if (now_ns() >= deadline_ns) return false;
      std::this_thread::sleep_for(kStep);
    }
    return true;
  }

  void close_doors() {
    if (reactors_.empty() || std::exchange(is_closed_, true)) return;
    reactors_[0]->loop()->post([this] { doors_.close(); });
  }

  const ServerOptions options_;
  int port_ = 0;
  std::atomic<int64_t> connections_{0};
  Reactors<Reactor> reactors_;
  Doors doors_;
  size_t next_reactor_ = 0;
  bool is_closed_ = false;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  auto server = std::make_unique<RunningServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace nereid::server::net::http2
