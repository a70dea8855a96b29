// SPDX-License-Identifier: Apache-2.0
#include "server/net/server.h"

#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "server/net/connection.h"
#include "server/net/connection_loop.h"
#include "server/net/doors.h"
#include "server/net/listen.h"
#include "server/net/response_text.h"
#include "server/net/worker_pool.h"

namespace nereid::server::net {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kLateMs = 100;       // of deadlines, at most
constexpr int64_t kFlushMs = 1'000;    // for the last bytes at the end
constexpr int64_t kSpareFiles = 128;   // descriptors that are no connections
constexpr int64_t kMaxRefusals = 128;  // connections that are told that there are too many, at one time
constexpr size_t kScratchBytes = 64 << 10;

class HttpServer;

// A loop with its thread and its connections.
class Reactor final : public ConnectionHost {
 public:
  explicit Reactor(HttpServer& server);
  ConnectionLoop<Connection>& own() { return own_; }
  void add(int fd);

  void forget(Connection& connection) override;
  void expect_by(int64_t at_ns) override { own_.expect_by(at_ns); }
  std::span<char> scratch() override { return scratch_; }
  std::string_view date() override;
  void run_on_worker(std::function<void()> task) override;
  const std::shared_ptr<Loop>& loop() override { return own_.loop(); }

 private:
  HttpServer& server_;
  ConnectionLoop<Connection> own_{kLateMs * kMs};
  std::vector<char> scratch_ = std::vector<char>(kScratchBytes);
  std::string date_;
  int64_t date_s_ = 0;
};

class HttpServer final : public Server {
 public:
  explicit HttpServer(ServerOptions options) : options_(std::move(options)) {}
  ~HttpServer() override;
  Status open();

  const std::string& url() const override { return url_; }
  int port() const override { return port_; }
  ServerStats stats() const override;
  void give_back_memory() override { pool_->clear(); }
  bool drain() override;
  bool is_draining() const override { return is_draining_.load(); }

 private:
  friend class Reactor;
  void close_doors();
  bool wait_until(int64_t deadline_ns, const std::function<bool()>& done);

  ServerOptions options_;
  std::string url_;
  int port_ = 0;
  int64_t most_connections_ = 0;
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> is_closed_{false};  // accepts nothing more
  std::atomic<int64_t> connections_{0}, requests_running_{0}, body_bytes_{0}, total_{0}, refused_{0};
  const std::shared_ptr<BytePool> pool_ = std::make_shared<BytePool>();
  std::unique_ptr<WorkerPool> workers_;
  Reactors<Reactor> reactors_;
  Doors doors_;
  size_t next_reactor_ = 0;
};

Reactor::Reactor(HttpServer& server) : server_(server) {
  settings = &server.options_.settings;
  router = &server.options_.router;
  on_done = &server.options_.on_done;
  is_draining = &server.is_draining_;
  requests_running = &server.requests_running_;
  body_bytes = &server.body_bytes_;
  pool = server.pool_;
}

void Reactor::add(int fd) {
  const bool is_refused = server_.connections_.load() >= server_.most_connections_;
  if (is_refused) ++server_.refused_;
  if (server_.connections_.load() >= server_.most_connections_ + kMaxRefusals || server_.is_closed_.load()) {
    ::close(fd);
    return;
  }
  ++server_.connections_;
  ++server_.total_;
  set_connection_options(fd);
  auto connection = std::make_shared<Connection>(*this, peer_name(fd), is_refused);
  own_.add(connection);
  auto transport = server_.options_.tls != nullptr ? server_.options_.tls->accept(fd) : plain_transport(fd);
  if (!connection->begin(fd, std::move(transport))) forget(*connection);
}

void Reactor::forget(Connection& connection) {
  if (own_.remove(connection)) --server_.connections_;
}

std::string_view Reactor::date() {
  const auto now_s = static_cast<int64_t>(std::time(nullptr));
  if (now_s != date_s_) {
    date_s_ = now_s;
    date_ = http_date(now_s);
  }
  return date_;
}

void Reactor::run_on_worker(std::function<void()> task) {
  server_.workers_->run(std::move(task));
}

Status HttpServer::open() {
  const Settings& s = options_.settings;
  NEREID_RETURN_IF_ERROR(check(s));
  NEREID_TRY(std::vector<Listener> listeners, listen_on(options_.host, options_.port, static_cast<int>(s.backlog)));
  const int64_t files = raise_open_files(s.max_connections + kMaxRefusals + kSpareFiles);
  most_connections_ = std::max<int64_t>(1, std::min(s.max_connections, files - kMaxRefusals - kSpareFiles));
  if (most_connections_ < s.max_connections)
    log_info("at most {} connections: the system lets this process open {} files", most_connections_, files);
  const bool is_unix = !listeners[0].unix_path.empty();
  port_ = listeners[0].port;
  url_ = is_unix ? listeners[0].url_host
                 : fmt::format("{}://{}:{}", options_.tls != nullptr ? "https" : "http", listeners[0].url_host, port_);
  workers_ = std::make_unique<WorkerPool>(static_cast<int>(s.worker_threads));
  for (int64_t i = 0; i < s.loop_threads; ++i) {
    auto reactor = std::make_unique<Reactor>(*this);
    if (reactor->loop() == nullptr) {
      reactors_.clear();
      return unavailable("the system has no room for the descriptors of an event loop");
    }
    reactors_.push_back(std::move(reactor));
  }
  NEREID_RETURN_IF_ERROR(
      doors_.open(listeners, *reactors_[0]->loop(), [this](int fd) { hand_over(reactors_, next_reactor_, fd); }));
  for (const auto& reactor : reactors_) reactor->own().start();
  return Status::ok();
}

ServerStats HttpServer::stats() const {
  return {.connections = connections_.load(),
          .requests_running = requests_running_.load(),
          .connections_total = total_.load(),
          .connections_refused = refused_.load()};
}

void HttpServer::close_doors() {
  is_closed_.store(true);
  reactors_[0]->loop()->post([this] { doors_.close(); });
}

bool HttpServer::wait_until(int64_t deadline_ns, const std::function<bool()>& done) {
  constexpr auto kStep = std::chrono::milliseconds(10);
  while (!done()) {
    if (now_ns() >= deadline_ns) return false;
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

bool HttpServer::drain() {
  if (is_draining_.exchange(true)) return true;
  visit_all(reactors_, [](Connection& one) { one.drain(); });
  const auto nothing_runs = [this] { return requests_running_.load() == 0; };
  const bool in_time = wait_until(now_ns() + options_.settings.drain_timeout_ms * kMs, nothing_runs);
  close_doors();  // not before: whoever asks meanwhile learns that the server stops
  visit_all(reactors_, [](Connection& one) { one.cut_off(); });
  wait_until(now_ns() + kFlushMs * kMs, [this] { return connections_.load() == 0; });
  return in_time;
}

HttpServer::~HttpServer() {
  if (reactors_.empty()) return;
  is_draining_.store(true);
  if (!is_closed_.load()) close_doors();
  for (const auto& reactor : reactors_) reactor->own().stop();
  // Handlers at work have learnt that nobody waits; the loops stay until they have let go of their responders.
  workers_.reset();
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  auto server = std::make_unique<HttpServer>(std::move(options));
  NEREID_RETURN_IF_ERROR(server->open());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace nereid::server::net
