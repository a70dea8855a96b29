// SPDX-License-Identifier: Apache-2.0
// What a server does before and round handlers: keys before bodies, packed bodies, handlers that fail.
#include <gmock/gmock.h>

#include <new>

#include "server/net/content_coding.h"
#include "server/net/test_client.h"

namespace nereid::server::net {
namespace {

using testing::echo;
using ::testing::EndsWith;
using testing::get;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::post;
using testing::row;
using testing::status_of;
using testing::TestClient;
using testing::TestServer;

std::string body_of(const std::string& response) {
  return response.substr(std::min(response.size(), response.find("\r\n\r\n") + 4));
}

TEST(ServerRim, who_shows_no_key_need_not_send_a_body) {
  ServerOptions options;
  options.router.require_keys(ApiKeys({"secret"}));
  TestServer server({echo()}, {}, std::move(options));
  TestClient client = server.client();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\nExpect: 100-continue\r\n\r\n");
  const std::string refusal = client.read_response();
  EXPECT_EQ(status_of(refusal), 401);
  EXPECT_THAT(refusal, HasSubstr("Connection: close"));
  client = server.client();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_EQ(status_of(client.read_response()), 401);
  client = server.client();
  client.send(post("/echo", "body", "Authorization: Bearer secret\r\n"));
  EXPECT_THAT(client.read_response(), EndsWith("\r\n\r\nbody"));
}

TEST(ServerRim, packed_bodies_are_handed_on_unpacked) {
  Settings limits;
  limits.max_body_bytes = 64 << 10;
  TestServer server({echo()}, limits);
  const std::string text(60 << 10, 'x');
  EXPECT_EQ(body_of(server.ask(post("/echo", gzip(text), "Content-Encoding: gzip\r\n"))), text);
  EXPECT_EQ(status_of(server.ask(post("/echo", gzip(text + text), "Content-Encoding: gzip\r\n"))), 413);
  EXPECT_EQ(status_of(server.ask(post("/echo", "{}", "Content-Encoding: gzip\r\n"))), 400);
  EXPECT_EQ(status_of(server.ask(post("/echo", "{}", "Content-Encoding: br\r\n"))), 415);
}

TEST(ServerRim, responses_are_packed_for_those_who_ask) {
  Settings limits;
  limits.gzip_bytes = 100;
  const std::string text = "what is said again and again, " + std::string(1000, '.');
  const auto say = [text](Request, std::shared_ptr<Responder> out) { out->send(text_response(200, text)); };
  const auto stream = [text](Request, std::shared_ptr<Responder> out) {
    out->start(200, {{"Content-Type", "text/event-stream"}});
    out->write(text);
    out->close();
  };
  TestServer server(
      {echo(), row("GET", "/said", say), row("GET", "/loop", say, Runs::kOnLoop), row("GET", "/stream", stream)},
      limits);
  for (const char* target : {"/said", "/loop"}) {
    const std::string packed = server.ask(get(target, "Accept-Encoding: deflate, gzip\r\n"));
    EXPECT_THAT(packed, HasSubstr("Content-Encoding: gzip\r\n"));
    EXPECT_THAT(packed, HasSubstr("Vary: Accept-Encoding\r\n"));
    EXPECT_LT(body_of(packed).size(), 100u);
    std::string plain;
    EXPECT_FALSE(decode(Coding::kGzip, body_of(packed), 1 << 20, &plain).has_value());
    EXPECT_EQ(plain, text);
  }
  const std::string as_it_is = server.ask(get("/said", "Accept-Encoding: gzip;q=0\r\n"));
  EXPECT_EQ(body_of(as_it_is), text);
  EXPECT_THAT(as_it_is, HasSubstr("Vary: Accept-Encoding\r\n"));
  EXPECT_THAT(server.ask(post("/echo", "short", "Accept-Encoding: gzip\r\n")), EndsWith("\r\n\r\nshort"));
  TestClient client = server.client();
  client.send(get("/stream", "Accept-Encoding: gzip\r\nConnection: close\r\n"));
  const std::string events = client.read_to_end();
  EXPECT_THAT(events, Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(events, HasSubstr("again and again"));
}

TEST(ServerRim, a_handler_that_finds_no_memory_fails_its_own_request) {
  const auto fails = [](Request, std::shared_ptr<Responder>) { throw std::bad_alloc(); };
  TestServer server({echo(), row("GET", "/worker", fails), row("GET", "/loop", fails, Runs::kOnLoop)});
  TestClient client = server.client();
  for (const char* target : {"/worker", "/loop", "/loop"}) {
    client.send(get(target));
    EXPECT_EQ(status_of(client.read_response()), 500) << target;
  }
  client.send(post("/echo", "still there"));
  EXPECT_THAT(client.read_response(), EndsWith("still there"));
}

TEST(ServerRim, what_took_too_long_is_not_to_be_tried_again) {
  Settings limits;
  limits.request_timeout_ms = 50;
  std::shared_ptr<Responder> held;
  TestServer server({row("GET", "/held", [&](Request, std::shared_ptr<Responder> out) { held = std::move(out); })},
                    limits);
  const std::string late = server.ask(get("/held"));
  EXPECT_EQ(status_of(late), 504);
  EXPECT_THAT(late, HasSubstr("X-Should-Retry: false\r\n"));
}

}  // namespace
}  // namespace nereid::server::net
