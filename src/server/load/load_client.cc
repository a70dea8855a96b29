// SPDX-License-Identifier: Apache-2.0
#include "server/load/load_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <deque>
#include <memory>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "server/load/load_socket.h"
#include "server/load/response_reader.h"

namespace nereid::server::load {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr size_t kMaxErrorBody = 4096;

std::string body_text(const LoadOptions& o, const PlannedRequest& planned, uint64_t number) {
  Json body = {{"model", o.model},
               {"max_tokens", planned.answer_tokens},
               {"temperature", 0},
               {"stream", true},
               {"stream_options", {{"include_usage", true}}}};
  if (!o.stops_at_end) body["ignore_eos"] = true;
  std::string text = prompt_text(planned.prompt_tokens, o.shared_tokens, o.seed * 1'000'003 + number);
  if (o.is_chat) {
    body["messages"] = Json::array({{{"role", "user"}, {"content", std::move(text)}}});
  } else {
    body["prompt"] = std::move(text);
  }
  return body.dump();
}

// One request on its connection.
struct Flight {
  size_t number = 0;  // in the plan
  UniqueFd fd;
  std::string out;
  size_t sent = 0;
  ResponseReader reader;
  EventReader events;
  std::string last_event, error_body;
  int64_t last_text_ns = 0;
  int64_t pieces = 0;
  bool is_reused = false;  // the connection carried another request before
};

class LoadRunner {
 public:
  LoadRunner(const LoadOptions& options, const std::vector<PlannedRequest>& plan, int64_t concurrency,
             const std::function<void()>& done)
      : o_(options), plan_(plan), concurrency_(concurrency), done_(done), figures_(plan.size()) {}

  Result<std::vector<RequestFigures>> run() {
    begin_ns_ = now_ns();
    while (ended_ < plan_.size()) {
      NEREID_RETURN_IF_ERROR(check_interrupted());
      launch();
      wait();
    }
    return std::move(figures_);
  }

 private:
  bool is_open_loop() const { return concurrency_ == 0; }
  int64_t due_ns(size_t number) const { return begin_ns_ + plan_[number].at_us * 1000; }
  bool has_room() const {
    const auto most = static_cast<size_t>(is_open_loop() ? o_.max_connections : concurrency_);
    return flights_.size() < most;
  }

  void launch() {
    while (next_ < plan_.size() && has_room() && (!is_open_loop() || due_ns(next_) <= now_ns())) start(next_++);
  }

  void start(size_t number, bool may_reuse = true) {
    auto flight = std::make_unique<Flight>();
    flight->number = number;
    RequestFigures& f = figures_[number];
    if (f.due_ns == 0) f.due_ns = is_open_loop() ? due_ns(number) : now_ns();
    f.prompt_tokens = plan_[number].prompt_tokens;
    flight->out = request_text(o_.target, "POST", o_.is_chat ? "/v1/chat/completions" : "/v1/completions",
                               body_text(o_, plan_[number], number), o_.api_key);
    if (may_reuse && !idle_.empty()) {
      flight->fd = std::move(idle_.back());
      idle_.pop_back();
      flight->is_reused = true;
    } else {
      Result<UniqueFd> connected = connect_to(o_.target);
      if (!connected.is_ok()) return finish(*flight, connected.status().message());
      flight->fd = std::move(*connected);
      ::fcntl(flight->fd.get(), F_SETFL, O_NONBLOCK);
    }
    flights_.push_back(std::move(flight));
    advance(*flights_.back());
  }

  // Sleeps until something can be done.
  void wait() {
    polled_.clear();
    for (const auto& one : flights_)
      polled_.push_back({.fd = one->fd.get(),
                         .events = static_cast<short>(one->sent < one->out.size() ? POLLIN | POLLOUT : POLLIN),
                         .revents = 0});
    int64_t wait_ms = 100;  // Ctrl-C and timeouts are looked at so often
    if (is_open_loop() && next_ < plan_.size() && has_room())
      wait_ms = std::min(wait_ms, std::max<int64_t>(0, (due_ns(next_) - now_ns() + kMs - 1) / kMs));
    ::poll(polled_.data(), polled_.size(), static_cast<int>(wait_ms));
    const int64_t now = now_ns();
    const size_t count = polled_.size();
    for (size_t i = 0; i < count; ++i) {
      Flight& flight = *flights_[i];
      if (polled_[i].revents != 0) {
        advance(flight);
      } else if (flight.fd && now - figures_[flight.number].due_ns > o_.timeout_ms * kMs) {
        finish(flight, fmt::format("there was no end after {} ms", o_.timeout_ms));
      }
    }
    std::erase_if(flights_, [](const auto& one) { return one == nullptr || !one->fd; });
  }

  void advance(Flight& flight) {
    while (flight.sent < flight.out.size()) {
      const ssize_t n =
          ::send(flight.fd.get(), flight.out.data() + flight.sent, flight.out.size() - flight.sent, MSG_NOSIGNAL);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) break;
      if (n < 0) return lose(flight);
      flight.sent += static_cast<size_t>(n);
    }
    char bytes[65536];
    for (;;) {
      const ssize_t n = ::recv(flight.fd.get(), bytes, sizeof(bytes), 0);
      if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
      if (n <= 0) {
        flight.reader.end();
        return flight.reader.is_done() ? finish(flight, "") : lose(flight);
      }
      const int64_t now = now_ns();
      flight.reader.feed({bytes, static_cast<size_t>(n)}, [&](std::string_view piece) { take(flight, piece, now); });
      if (flight.reader.is_failed()) return finish(flight, "the response is no valid HTTP");
      if (flight.reader.is_done()) return finish(flight, "");
    }
  }

  void take(Flight& flight, std::string_view piece, int64_t now) {
    if (flight.reader.status() != 200) {
      if (flight.error_body.size() < kMaxErrorBody) flight.error_body += piece;
      return;
    }
    RequestFigures& f = figures_[flight.number];
    flight.events.feed(piece, [&](std::string_view event) {
      if (event == "[DONE]") return;
      flight.last_event = event;
      if (!brings_text(event)) return;
      ++flight.pieces;
      if (f.first_ns == 0) {
        f.first_ns = now;
      } else {
        f.gaps_ns.push_back(now - flight.last_text_ns);
      }
      flight.last_text_ns = now;
    });
  }

  // A kept connection may have been closed by the server just before the request: that is no failure of the request.
  void lose(Flight& flight) {
    if (!flight.is_reused || flight.reader.has_begun())
      return finish(flight, "the server closed the connection before the response was whole");
    flight.fd = UniqueFd();
    start(flight.number, false);
  }

  void finish(Flight& flight, std::string error) {
    RequestFigures& f = figures_[flight.number];
    f.end_ns = now_ns();
    f.status = flight.reader.status();
    f.error = std::move(error);
    f.answer_tokens = flight.pieces;
    if (f.is_ok() && f.status != 200) f.error = fmt::format("HTTP {}: {}", f.status, flight.error_body.substr(0, 300));
    if (f.is_ok()) read_last_event(flight, &f);
    if (f.is_ok() && flight.reader.keeps_alive()) {
      idle_.push_back(std::move(flight.fd));
    }
    flight.fd = UniqueFd();
    ++ended_;
    done_();
  }

  // The usage, or what went wrong in the middle of the stream.
  static void read_last_event(const Flight& flight, RequestFigures* f) {
    const Result<Json> event = parse_json(flight.last_event);
    if (!event.is_ok()) {
      f->error = "the stream holds no event of the API";
      return;
    }
    if (const Json* error = json_find(*event, "error")) {
      const Result<std::string> message = json_string_or(*error, "message", "");
      f->error = fmt::format("the stream ended with an error: {}",
                             message.is_ok() ? *message : error->dump(-1, ' ', false, Json::error_handler_t::replace));
      return;
    }
    const Json* usage = json_find(*event, "usage");
    if (usage == nullptr) return;
    // Whatever else a server writes there counts nothing.
    const Result<int64_t> prompt = json_int_or(*usage, "prompt_tokens", f->prompt_tokens);
    const Result<int64_t> answer = json_int_or(*usage, "completion_tokens", f->answer_tokens);
    if (prompt.is_ok()) f->prompt_tokens = *prompt;
    if (answer.is_ok()) f->answer_tokens = *answer;
  }

  const LoadOptions& o_;
  const std::vector<PlannedRequest>& plan_;
  const int64_t concurrency_;
  const std::function<void()>& done_;
  std::vector<RequestFigures> figures_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<UniqueFd> idle_;
  std::vector<pollfd> polled_;
  int64_t begin_ns_ = 0;
  size_t next_ = 0, ended_ = 0;
};

}  // namespace

Result<std::vector<RequestFigures>> run_load(const LoadOptions& options, const std::vector<PlannedRequest>& plan,
                                             int64_t concurrency, const std::function<void()>& done) {
  return LoadRunner(options, plan, concurrency, done).run();
}

}  // namespace nereid::server::load
