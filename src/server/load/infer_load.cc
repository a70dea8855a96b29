// SPDX-License-Identifier: Apache-2.0
#include "server/load/infer_load.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <memory>

#include "base/clock.h"
#include "base/interrupt.h"
#include "server/load/grpc_caller.h"
#include "server/load/load_socket.h"
#include "server/load/response_reader.h"

namespace nereid::server::load {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kPieces = 256;  // sent by one call
constexpr int kEventsAtOnce = 256;
constexpr int kLookMs = 100;  // Ctrl-C and timeouts are looked at so often
constexpr size_t kMaxErrorBody = 300;

// One kind of exchange on a connection: what to send, and when it is over.
class Exchanger {
 public:
  virtual ~Exchanger() = default;
  virtual void begin() = 0;
  // What can be sent now; how many pieces that is.
  virtual size_t pieces(std::span<std::string_view> most) const = 0;
  virtual void sent(size_t bytes) = 0;
  virtual void feed(std::string_view bytes) = 0;
  virtual void end_of_input() = 0;
  virtual bool is_done() const = 0;
  virtual bool keeps_alive() const = 0;
  virtual int status() const = 0;
  virtual int64_t answer_bytes() const = 0;
  virtual std::string error() const = 0;
};

class HttpExchanger final : public Exchanger {
 public:
  explicit HttpExchanger(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
  void begin() override {
    sent_ = 0;
    body_bytes_ = 0;
    reader_ = {};
    error_body_.clear();
  }
  size_t pieces(std::span<std::string_view> most) const override {
    most[0] = std::string_view(*text_).substr(sent_);
    return most[0].empty() ? 0 : 1;
  }
  void sent(size_t bytes) override { sent_ += bytes; }
  void feed(std::string_view bytes) override {
    reader_.feed(bytes, [this](std::string_view piece) {
      body_bytes_ += static_cast<int64_t>(piece.size());
      if (reader_.status() != 200 && error_body_.size() < kMaxErrorBody) error_body_ += piece.substr(0, kMaxErrorBody);
    });
  }
  void end_of_input() override {
    reader_.end();
    is_ended_ = true;
  }
  bool is_done() const override { return reader_.is_done() || reader_.is_failed() || is_ended_; }
  bool keeps_alive() const override { return reader_.is_done() && reader_.keeps_alive() && !is_ended_; }
  int status() const override { return reader_.status(); }
  int64_t answer_bytes() const override { return body_bytes_; }
  std::string error() const override {
    if (reader_.is_failed()) return "the response is no valid HTTP";
    if (!reader_.is_done()) return "the server closed the connection before the response was whole";
    return status() == 200 ? std::string() : fmt::format("HTTP {}: {}", status(), error_body_);
  }

 private:
  const std::shared_ptr<const std::string> text_;
  size_t sent_ = 0;
  ResponseReader reader_;
  int64_t body_bytes_ = 0;
  std::string error_body_;
  bool is_ended_ = false;
};

class GrpcExchanger final : public Exchanger {
 public:
  GrpcExchanger(const LoadTarget& target, std::shared_ptr<const std::string> message)
      : caller_(target.port == 0 ? "localhost" : fmt::format("{}:{}", target.host, target.port),
                "/inference.GRPCInferenceService/ModelInfer", std::move(message)) {}
  void begin() override { caller_.begin(); }
  size_t pieces(std::span<std::string_view> most) const override { return caller_.pieces(most); }
  void sent(size_t bytes) override { caller_.sent(bytes); }
  void feed(std::string_view bytes) override { caller_.feed(bytes); }
  void end_of_input() override { is_ended_ = true; }
  bool is_done() const override { return caller_.is_done() || is_ended_; }
  bool keeps_alive() const override { return caller_.is_done() && !caller_.is_broken() && !is_ended_; }
  int status() const override { return error().empty() ? 200 : 500; }
  int64_t answer_bytes() const override { return caller_.answer_bytes(); }
  std::string error() const override {
    if (!caller_.is_done()) return "the server closed the connection before the answer was whole";
    return caller_.error();
  }

 private:
  GrpcCaller caller_;
  bool is_ended_ = false;
};

ssize_t send_pieces(int fd, std::span<const std::string_view> pieces) {
  std::array<iovec, kPieces> parts;
  for (size_t i = 0; i < pieces.size(); ++i)
    parts[i] = {.iov_base = const_cast<char*>(pieces[i].data()), .iov_len = pieces[i].size()};
  msghdr message = {};
  message.msg_iov = parts.data();
  message.msg_iovlen = pieces.size();
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}

struct Client {
  UniqueFd fd;
  std::unique_ptr<Exchanger> exchange;
  size_t number = 0;  // of its request
  bool is_busy = false, wants_write = false;
};

class InferRunner {
 public:
  InferRunner(const InferLoadOptions& options, int64_t requests, const std::function<void()>& done)
      : o_(options), done_(done), figures_(static_cast<size_t>(requests)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

  Result<std::vector<RequestFigures>> run(int64_t concurrency) {
    NEREID_RETURN_IF_ERROR(prepare());
    for (int64_t i = 0; i < concurrency; ++i) {
      clients_.push_back(std::make_unique<Client>());
      NEREID_RETURN_IF_ERROR(open(*clients_.back()));
    }
    for (const auto& client : clients_) start(*client);
    std::array<epoll_event, kEventsAtOnce> events;
    int64_t looked_ns = now_ns();
    while (ended_ < figures_.size()) {
      const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsAtOnce, kLookMs);
      for (int i = 0; i < count; ++i) {
        Client& client = *static_cast<Client*>(events[static_cast<size_t>(i)].data.ptr);
        if (client.is_busy) advance(client, (events[static_cast<size_t>(i)].events & ~uint32_t{EPOLLOUT}) != 0);
      }
      if (const int64_t now = now_ns(); now - looked_ns > int64_t{kLookMs} * 1'000'000) {
        looked_ns = now;
        NEREID_RETURN_IF_ERROR(check_interrupted());
        for (const auto& client : clients_)
          if (client->is_busy && now - figures_[client->number].due_ns > o_.timeout_ms * 1'000'000)
            finish(*client, fmt::format("there was no end after {} ms", o_.timeout_ms));
      }
      if (failure_.is_ok()) continue;
      return failure_;
    }
    return std::move(figures_);
  }

 private:
  Status prepare() {
    if (o_.is_grpc) {
      NEREID_TRY(std::string message, infer_grpc_message(o_.model, o_.inputs));
      text_ = std::make_shared<const std::string>(std::move(message));
      return Status::ok();
    }
    size_t json_bytes = 0;
    NEREID_TRY(const std::string body, infer_http_body(o_.inputs, &json_bytes));
    const std::string headers = fmt::format("{}: {}\r\n", kInferHeaderLength, json_bytes);
    text_ = std::make_shared<const std::string>(request_text(o_.target, "POST", "/v2/models/" + o_.model + "/infer",
                                                             body, o_.api_key,
                                                             {.type = "application/octet-stream", .more = headers}));
    return Status::ok();
  }

  Status open(Client& client) {
    NEREID_TRY(client.fd, connect_to(o_.target));
    ::fcntl(client.fd.get(), F_SETFL, O_NONBLOCK);
    const int on = 1;
    ::setsockopt(client.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (o_.is_grpc) {
      client.exchange = std::make_unique<GrpcExchanger>(o_.target, text_);
    } else {
      client.exchange = std::make_unique<HttpExchanger>(text_);
    }
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = &client;
    client.wants_write = false;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.fd.get(), &event) != 0)
      return unavailable("the system has no room for one more connection");
    return Status::ok();
  }

  void start(Client& client) {
    if (next_ == figures_.size()) {
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, client.fd.get(), nullptr);  // what may still come is of no interest
      return;
    }
    client.number = next_++;
    client.is_busy = true;
    figures_[client.number].due_ns = now_ns();
    client.exchange->begin();
    advance(client, false);
  }

  void advance(Client& client, bool can_read) {
    if (can_read && !read(client)) return;
    bool is_blocked = false;
    std::array<std::string_view, kPieces> pieces;
    for (size_t count = 0; !is_blocked && (count = client.exchange->pieces(pieces)) > 0;) {
      const ssize_t n = send_pieces(client.fd.get(), std::span(pieces).first(count));
      if (n > 0) {
        client.exchange->sent(static_cast<size_t>(n));
      } else if (errno == EAGAIN) {
        is_blocked = true;
      } else if (errno != EINTR) {
        client.exchange->end_of_input();
        return finish(client, "");
      }
    }
    if (is_blocked == client.wants_write) return;
    client.wants_write = is_blocked;
    epoll_event event = {};
    event.events = is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.ptr = &client;
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.fd.get(), &event);
  }

  // False: the exchange is over, and maybe the next has begun.
  bool read(Client& client) {
    for (;;) {
      const ssize_t n = ::recv(client.fd.get(), scratch_.data(), scratch_.size(), 0);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return true;
      if (n <= 0) {
        client.exchange->end_of_input();
      } else {
        client.exchange->feed({scratch_.data(), static_cast<size_t>(n)});
      }
      if (client.exchange->is_done()) return finish(client, ""), false;
      if (static_cast<size_t>(n) < scratch_.size()) return true;
    }
  }

  void finish(Client& client, std::string error) {
    RequestFigures& f = figures_[client.number];
    const bool is_late = !error.empty();
    f.first_ns = f.end_ns = now_ns();
    f.status = client.exchange->status();
    f.error = is_late ? std::move(error) : client.exchange->error();
    const int64_t bytes = client.exchange->answer_bytes();
    if (f.is_ok() && answer_bytes_ < 0) answer_bytes_ = bytes;
    if (f.is_ok() && bytes != answer_bytes_)
      f.error = fmt::format("the answer has {} bytes, the first one had {}", bytes, answer_bytes_);
    client.is_busy = false;
    ++ended_;
    done_();
    if (is_late || !client.exchange->keeps_alive()) {
      client.fd = UniqueFd();
      if (next_ < figures_.size())
        if (const Status status = open(client); !status.is_ok()) failure_ = status;
    }
    if (failure_.is_ok()) start(client);
  }

  const InferLoadOptions& o_;
  const std::function<void()>& done_;
  std::vector<RequestFigures> figures_;
  const UniqueFd epoll_;
  std::shared_ptr<const std::string> text_;  // of the request; over gRPC its message
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<char> scratch_ = std::vector<char>(kReadBytes);
  size_t next_ = 0, ended_ = 0;
  int64_t answer_bytes_ = -1;
  Status failure_;
};

}  // namespace

Result<std::vector<RequestFigures>> run_infer_load(const InferLoadOptions& options, int64_t concurrency,
                                                   int64_t requests, const std::function<void()>& done) {
  return InferRunner(options, requests, done).run(concurrency);
}

Result<std::vector<InferInput>> ask_inputs(const LoadTarget& target, const std::string& model,
                                           const std::string& api_key) {
  NEREID_TRY(const Exchanged answer, exchange_once(target, "GET", "/v2/models/" + model, "", api_key));
  if (answer.status != 200)
    return unavailable("the server answered {} when it was asked for the model '{}': {}", answer.status, model,
                       answer.body.substr(0, kMaxErrorBody));
  NEREID_TRY(const Json metadata, parse_json(answer.body));
  return inputs_of_metadata(metadata);
}

}  // namespace nereid::server::load
