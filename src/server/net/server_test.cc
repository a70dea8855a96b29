// SPDX-License-Identifier: Apache-2.0
#include "server/net/server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "base/test_dir.h"
#include "server/net/test_client.h"

namespace nereid::server::net {
namespace {

using testing::echo;
using ::testing::EndsWith;
using testing::eventually;
using testing::get;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::post;
using testing::row;
using testing::status_of;
using testing::TestClient;
using testing::TestServer;

Endpoint hello(Runs runs = Runs::kOnWorker) {
  const Handler say = [](Request, std::shared_ptr<Responder> out) { out->send(text_response(200, "hello")); };
  return row("GET", "/hello", say, runs);
}

// Keeps responders until the test answers.
struct Held {
  Endpoint endpoint(std::string method = "GET") {
    return row(std::move(method), "/held", [this](Request, std::shared_ptr<Responder> out) {
      const std::lock_guard lock(mutex);
      responders.push_back(std::move(out));
    });
  }
  std::shared_ptr<Responder> wait() {
    std::shared_ptr<Responder> one;
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock(mutex);
      if (responders.empty()) return false;
      one = std::move(responders.back());
      responders.pop_back();
      return true;
    }));
    return one;
  }
  std::mutex mutex;
  std::vector<std::shared_ptr<Responder>> responders;
};

TEST(Server, answers_and_keeps_the_connection) {
  TestServer server({hello(), echo()});
  TestClient client = server.client();
  for (int i = 0; i < 3; ++i) {
    client.send(get("/hello"));
    const std::string response = client.read_response();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_THAT(response, EndsWith("\r\n\r\nhello"));
    EXPECT_THAT(response, HasSubstr("Date: "));
  }
  client.send(post("/echo", "body", "Connection: close\r\n"));
  EXPECT_THAT(client.read_response(), HasSubstr("Connection: close"));
  EXPECT_TRUE(client.is_ended());
  EXPECT_EQ(server.server->stats().connections_total, 1);
}

TEST(Server, requests_sent_ahead_are_answered_in_order) {
  TestServer server({echo(), hello()});
  TestClient client = server.client();
  std::string all;
  for (int i = 0; i < 200; ++i) all += post("/echo", fmt::format("number {}", i));
  client.send(all);
  for (int i = 0; i < 200; ++i) ASSERT_THAT(client.read_response(), EndsWith(fmt::format("\r\n\r\nnumber {}", i)));
}

TEST(Server, takes_chunks_and_gives_chunks) {
  TestServer server({row("POST", "/stream", [](Request r, std::shared_ptr<Responder> out) {
    out->start(200, {{"Content-Type", "text/event-stream"}});
    std::thread([body = r.body, out] {
      out->write("<" + body);
      out->write(">");
      out->close();
    }).detach();
  })});
  TestClient client = server.client();
  client.send("POST /stream HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("2;name=value\r\nde\r\n0\r\nTrailer: x\r\n\r\n");
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Transfer-Encoding: chunked"));
  std::string body = client.read_until("\r\n0\r\n\r\n"), text;
  for (const char c : body)
    if (c == '<' || c == '>' || (c >= 'a' && c <= 'e')) text += c;
  EXPECT_EQ(text, "<abcde>");
  // HTTP/1.0 knows no chunks: the end of the connection is the end.
  client = server.client();
  client.send("POST /stream HTTP/1.0\r\nContent-Length: 1\r\n\r\nx");
  EXPECT_THAT(client.read_to_end(), EndsWith("\r\n\r\n<x>"));
}

TEST(Server, a_head_request_gets_the_head_alone) {
  TestServer server({hello()});
  TestClient client = server.client();
  client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n" + get("/hello"));
  EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("Content-Length: 5"));
  EXPECT_THAT(client.read_response(), EndsWith("hello"));
}

TEST(Server, waits_for_a_body_that_waits_for_a_go_ahead) {
  TestServer server({echo()});
  TestClient client = server.client();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_THAT(client.read_response(), EndsWith("abc"));
}

TEST(Server, refuses_by_the_right_status_and_goes_on_with_others) {
  Settings limits;
  limits.max_body_bytes = 1024;
  limits.max_header_bytes = 2048;
  limits.max_target_bytes = 256;
  TestServer server({hello(), echo()}, limits);
  EXPECT_EQ(status_of(server.ask(get("/nothing"))), 404);
  const std::string wrong_method = server.ask(get("/echo"));
  EXPECT_EQ(status_of(wrong_method), 405);
  EXPECT_THAT(wrong_method, HasSubstr("Allow: POST, OPTIONS"));
  EXPECT_EQ(status_of(server.ask("nonsense\r\n\r\n")), 400);
  EXPECT_EQ(status_of(server.ask(get("/" + std::string(300, 'a')))), 414);
  std::string bomb;
  for (int i = 0; i < 1000; ++i) bomb += fmt::format("H{}: x\r\n", i);
  EXPECT_EQ(status_of(server.ask(get("/hello", bomb))), 431);
  const std::string too_long = server.ask(post("/echo", std::string(1 << 20, 'x')));
  EXPECT_EQ(status_of(too_long), 413);
  EXPECT_THAT(too_long, HasSubstr("longer than 1024 bytes"));
  EXPECT_EQ(status_of(server.ask(get("/hello"))), 200);
}

TEST(Server, a_request_that_trickles_in_is_given_up) {
  Settings limits;
  limits.header_timeout_ms = limits.body_timeout_ms = 100;
  TestServer server({echo()}, limits);
  EXPECT_EQ(status_of(server.ask("GET /hello HTTP/1.1\r\nHost: x\r\n")), 408);
  EXPECT_EQ(status_of(server.ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")), 408);
  // Drops that keep coming do not help.
  TestClient client = server.client();
  const int64_t begin = now_ns();
  while (client.send("G") && now_ns() - begin < testing::kPatienceNs) {
    ::poll(nullptr, 0, 20);
    if (server.server->stats().connections == 0) break;
  }
  EXPECT_LT(now_ns() - begin, testing::kPatienceNs);
}

TEST(Server, an_idle_connection_is_closed_without_a_word) {
  Settings limits;
  limits.idle_timeout_ms = 100;
  TestServer server({hello()}, limits);
  TestClient client = server.client();
  client.send(get("/hello"));
  client.read_response();
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_TRUE(client.is_ended());
}

TEST(Server, a_request_that_takes_too_long_is_answered_and_told_so) {
  Settings limits;
  limits.request_timeout_ms = 100;
  Held held;
  TestServer server({held.endpoint()}, limits);
  TestClient client = server.client();
  client.send(get("/held"));
  const auto responder = held.wait();
  std::atomic<bool> closed{false};
  responder->on_closed([&] { closed = true; });
  EXPECT_EQ(status_of(client.read_response()), 504);
  EXPECT_TRUE(closed);
  responder->send(text_response(200, "late"));  // nobody is there to hear it
}

TEST(Server, a_client_that_vanishes_is_noticed) {
  Held held;
  std::atomic<int> status{0};
  ServerOptions options;
  options.on_done = [&](const RequestRecord& r) { status = r.status; };
  TestServer server({held.endpoint()}, {}, std::move(options));
  for (const bool streams : {false, true}) {
    status = 0;
    TestClient client = server.client();
    client.send(get("/held"));
    const auto responder = held.wait();
    std::atomic<bool> closed{false};
    responder->on_closed([&] { closed = true; });
    if (streams) {
      responder->start(200, {});
      responder->write("x");
      client.read_until("x");
    }
    client.vanish();
    EXPECT_TRUE(eventually([&] { return closed.load(); }));
    EXPECT_TRUE(eventually([&] { return status == (streams ? 200 : 499); }));
    EXPECT_FALSE(responder->write("y"));
  }
}

TEST(Server, a_client_that_reads_too_slowly_is_given_up_and_others_are_not) {
  Settings limits;
  limits.stream_queue_bytes = 64 << 10;
  Held held;
  TestServer server({held.endpoint(), hello()}, limits);
  TestClient slow = server.client(4096);
  slow.send(get("/held"));
  const auto responder = held.wait();
  std::atomic<bool> closed{false};
  responder->on_closed([&] { closed = true; });
  responder->start(200, {});
  const std::string piece(4096, 'x');
  int64_t written = 0;
  while (responder->write(piece)) {
    written += 4096;
    if (written % (1 << 18) == 0) {
      EXPECT_EQ(status_of(server.ask(get("/hello"))), 200);
    }
    ASSERT_LT(written, 64 << 20) << "what nobody reads must not be kept";
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EXPECT_TRUE(closed);
  EXPECT_TRUE(eventually([&] { return server.server->stats().connections == 0; }));
}

TEST(Server, a_client_that_reads_nothing_is_given_up_in_time) {
  Settings limits;
  limits.write_timeout_ms = 100;
  TestServer server(
      {row("GET", "/long",
           [](Request, std::shared_ptr<Responder> out) { out->send(text_response(200, std::string(32 << 20, 'x'))); })},
      limits);
  TestClient client = server.client(4096);
  client.send(get("/long"));
  EXPECT_TRUE(eventually([&] { return server.server->stats().connections_total == 1; }));
  EXPECT_TRUE(eventually([&] { return server.server->stats().connections == 0; }));
}

TEST(Server, a_handler_that_lets_go_answers_500_and_a_broken_stream_looks_broken) {
  TestServer server({row("GET", "/drop", [](Request, std::shared_ptr<Responder>) {}),
                     row("GET", "/throw", [](Request, std::shared_ptr<Responder>) { throw std::bad_alloc(); }),
                     row("GET", "/half", [](Request, std::shared_ptr<Responder> out) {
                       out->start(200, {});
                       out->write("half");
                       std::this_thread::sleep_for(std::chrono::milliseconds(20));
                     })});
  EXPECT_EQ(status_of(server.ask(get("/drop"))), 500);
  EXPECT_EQ(status_of(server.ask(get("/throw"))), 500);
  TestClient client = server.client();
  client.send(get("/half"));
  EXPECT_THAT(client.read_to_end(), Not(EndsWith("0\r\n\r\n")));
}

TEST(Server, one_connection_too_many_is_told_so) {
  Settings limits;
  limits.max_connections = 2;
  TestServer server({hello()}, limits);
  std::vector<TestClient> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(server.client());
    clients.back().send(get("/hello"));
    EXPECT_EQ(status_of(clients.back().read_response()), 200);
  }
  const std::string refusal = server.ask(get("/hello"));
  EXPECT_EQ(status_of(refusal), 503);
  EXPECT_THAT(refusal, HasSubstr("Retry-After"));
  clients.clear();
  EXPECT_TRUE(eventually([&] { return server.server->stats().connections == 0; }));
  EXPECT_EQ(status_of(server.ask(get("/hello"))), 200);
}

TEST(Server, many_idle_connections_cost_little) {
  constexpr int kMany = 4000;
  TestServer server({hello()});
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < kMany; ++i) {
    clients.push_back(std::make_unique<TestClient>(server.server->port()));
    ASSERT_TRUE(clients.back()->connected()) << i;
  }
  EXPECT_TRUE(eventually([&] { return server.server->stats().connections == kMany; }));
  for (int i = 0; i < kMany; i += 500) {
    clients[static_cast<size_t>(i)]->send(get("/hello"));
    EXPECT_EQ(status_of(clients[static_cast<size_t>(i)]->read_response()), 200);
  }
}

TEST(Server, drains_what_runs_and_takes_nothing_new) {
  Held held;
  TestServer server({held.endpoint(), hello(), [] {
                       Endpoint health = hello(Runs::kOnLoop);
                       health.pattern = "/health";
                       return health;
                     }()});
  TestClient idle = server.client(), busy = server.client();
  idle.send(get("/hello"));
  idle.read_response();
  busy.send(get("/held"));
  const auto responder = held.wait();
  std::future<bool> drained = std::async(std::launch::async, [&] { return server.server->drain(); });
  EXPECT_TRUE(idle.is_ended());
  TestClient asks = server.client(), wants = server.client();
  asks.send(get("/health"));
  EXPECT_EQ(status_of(asks.read_response()), 200);  // by its handler, which knows
  EXPECT_TRUE(asks.is_ended());
  wants.send(get("/hello"));
  EXPECT_EQ(status_of(wants.read_response()), 503);
  EXPECT_TRUE(wants.is_ended());
  responder->send(text_response(200, "last"));
  const std::string response = busy.read_response();
  EXPECT_THAT(response, EndsWith("last"));
  EXPECT_TRUE(busy.is_ended());
  EXPECT_TRUE(drained.get());
  EXPECT_FALSE(server.client().connected());
}

TEST(Server, ends_what_does_not_end_in_time) {
  Settings limits;
  limits.drain_timeout_ms = 50;
  Held held;
  TestServer server({held.endpoint()}, limits);
  TestClient quiet = server.client(), streaming = server.client();
  quiet.send(get("/held"));
  const auto first = held.wait();
  streaming.send(get("/held"));
  const auto second = held.wait();
  std::atomic<int> closed{0};
  for (const auto& one : {first, second}) one->on_closed([&] { ++closed; });
  second->start(200, {});
  second->write("x");
  streaming.read_until("x");
  EXPECT_FALSE(server.server->drain());
  EXPECT_EQ(closed, 2);
  EXPECT_EQ(status_of(quiet.read_response()), 503);
  EXPECT_TRUE(streaming.is_ended());
}

TEST(Server, responders_may_outlive_it) {
  Held held;
  std::shared_ptr<Responder> responder;
  {
    TestServer server({held.endpoint()});
    TestClient client = server.client();
    client.send(get("/held"));
    responder = held.wait();
  }
  EXPECT_TRUE(responder->is_closed());
  responder->send(text_response(200, "nobody"));
}

TEST(Server, a_taken_port_is_a_sentence) {
  TestServer first({hello()});
  ServerOptions options;
  options.port = first.server->port();
  const Status status = Server::start(std::move(options)).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("Address already in use"));
  ServerOptions nowhere;
  nowhere.host = "no.such.host.invalid";
  EXPECT_EQ(Server::start(std::move(nowhere)).status().code(), StatusCode::kInvalidArgument);
}

TEST(Server, listens_on_a_unix_socket_and_replaces_a_dead_one) {
  TestDir dir;
  const std::string path = dir.path() + "/socket";
  for (int i = 0; i < 2; ++i) {
    ServerOptions options;
    options.host = "unix:" + path;
    TestServer server({hello()}, {}, std::move(options));
    EXPECT_EQ(server.server->url(), "unix:" + path);
    ServerOptions again;
    again.host = "unix:" + path;
    EXPECT_FALSE(Server::start(std::move(again)).is_ok()) << "it is in use";
  }
}

TEST(Server, several_loops_share_the_connections) {
  Settings limits;
  limits.loop_threads = 3;
  TestServer server({echo()}, limits);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      TestClient client = server.client();
      for (int i = 0; i < 50; ++i) {
        const std::string body = fmt::format("{}.{}", t, i);
        client.send(post("/echo", body));
        right += client.read_response().ends_with("\r\n\r\n" + body);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 300);
}

TEST(Settings, are_checked_against_their_bounds) {
  EXPECT_TRUE(check({}).is_ok());
  for (const SettingRow& one : setting_table()) {
    Settings wrong;
    wrong.*one.member = one.most + 1;
    EXPECT_THAT(check(wrong).message(), HasSubstr(std::string(one.name)));
    wrong.*one.member = one.least - 1;
    EXPECT_FALSE(check(wrong).is_ok());
  }
}

}  // namespace
}  // namespace nereid::server::net
