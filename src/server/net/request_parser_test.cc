// SPDX-License-Identifier: Apache-2.0
#include "server/net/request_parser.h"

#include <gtest/gtest.h>

namespace nereid::server::net {
namespace {

using State = RequestParser::State;

Settings small_limits() {
  Settings s;
  s.max_body_bytes = 2048;
  s.max_header_bytes = 1024;
  s.max_target_bytes = 256;
  return s;
}

// Feeds pieces of `step` bytes; the status it fails with, or 0.
int status_after(std::string_view text, size_t step) {
  RequestParser parser(small_limits());
  std::string kept;
  while (!text.empty()) {
    const size_t n = std::min(step, text.size());
    kept.append(text.substr(0, n));
    text.remove_prefix(n);
    kept.erase(0, parser.feed(kept));
    if (parser.state() == State::kFailed) return parser.error().status;
    if (parser.state() == State::kDone) return 0;
  }
  return -1;  // wants more
}

struct Case {
  const char* why;
  std::string text;
  int status;
};

std::vector<Case> cases() {
  const std::string host = "Host: x\r\n";
  return {
      {"a plain request", "GET / HTTP/1.1\r\n" + host + "\r\n", 0},
      {"blank lines before it", "\r\n\r\nGET / HTTP/1.1\r\n" + host + "\r\n", 0},
      {"an absolute target", "GET http://x/a HTTP/1.1\r\n" + host + "\r\n", 0},
      {"HTTP/1.0 needs no Host", "GET / HTTP/1.0\r\n\r\n", 0},
      {"chunks", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", 0},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two Hosts", "GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"a length beside chunks",
       "POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"chunks beside a length",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400},
      {"a negative length", "POST / HTTP/1.1\r\n" + host + "Content-Length: -3\r\n\r\nabc", 400},
      {"a length past 64 bits", "POST / HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {"another coding", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", 501},
      {"another coding before chunks", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"chunks in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"a body of unknown length", "POST / HTTP/1.0\r\n\r\n", 411},
      {"a chunk that is no number", "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
      {"a long body", "POST / HTTP/1.1\r\n" + host + "Content-Length: 2049\r\n\r\n", 413},
      {"long chunks",
       "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + std::string(4095, 'a'), 413},
      {"a long target", "GET /" + std::string(300, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"a target without end", "GET /" + std::string(900, 'a'), 414},
      {"a long head", "GET / HTTP/1.1\r\n" + host + "A: " + std::string(1200, 'a') + "\r\n\r\n", 431},
      {"another expectation", "POST / HTTP/1.1\r\n" + host + "Expect: wonders\r\nContent-Length: 1\r\n\r\na", 417},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"TLS", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
      {"no HTTP at all", "hello there, server\r\n\r\n", 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"a wrong escape", "GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400},
      {"an escape cut short", "GET /a%4 HTTP/1.1\r\n" + host + "\r\n", 400},
      {"a blank before a colon", "GET / HTTP/1.1\r\n" + host + "A : b\r\n\r\n", 400},
      {"a zero byte in a header", "GET / HTTP/1.1\r\n" + host + "A: b" + std::string(1, '\0') + "c\r\n\r\n", 400},
      {"a target without '/'", "GET a HTTP/1.1\r\n" + host + "\r\n", 400},
  };
}

TEST(RequestParser, judges_requests_the_same_however_they_are_cut) {
  for (const Case& one : cases())
    for (const size_t step : {size_t{1}, size_t{7}, size_t{100'000}})
      EXPECT_EQ(status_after(one.text, step), one.status) << one.why << ", in pieces of " << step;
}

TEST(RequestParser, takes_one_request_and_leaves_the_next) {
  const std::string first = "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
                    second = "GET /b HTTP/1.1\r\n";
  RequestParser parser{Settings{}};
  std::string text = first + second;
  text.erase(0, parser.feed(text));
  while (parser.state() == State::kBody) text.erase(0, parser.feed(text));
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(text, second);
  EXPECT_EQ(parser.take().body, "abc");
}

TEST(RequestParser, decodes_path_and_query) {
  RequestParser parser{Settings{}};
  parser.feed("GET /v1/models/a%2Fb?x=1+2&y=%C3%A4&flag HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: 2\r\n\r\n");
  ASSERT_EQ(parser.state(), State::kDone);
  EXPECT_TRUE(parser.keeps_alive());
  const Request r = parser.take();
  EXPECT_EQ(r.method, "GET");
  EXPECT_EQ(r.target, "/v1/models/a%2Fb?x=1+2&y=%C3%A4&flag");
  EXPECT_EQ(r.path, "/v1/models/a/b");
  EXPECT_EQ(r.query, (NamedValues{{"x", "1 2"}, {"y", "\xC3\xA4"}, {"flag", ""}}));
  EXPECT_EQ(r.headers.get("x-A"), "1");
}

TEST(RequestParser, tells_who_waits_for_a_go_ahead_and_who_stays) {
  RequestParser waits{Settings{}};
  waits.feed("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(waits.state(), State::kBody);
  EXPECT_TRUE(waits.expects_continue());
  EXPECT_FALSE(waits.keeps_alive());
  RequestParser old{Settings{}};
  old.feed("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(old.is_http_1_0());
  EXPECT_FALSE(old.keeps_alive());
}

}  // namespace
}  // namespace nereid::server::net
