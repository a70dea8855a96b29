// SPDX-License-Identifier: Apache-2.0
#include "server/net/exchange.h"

#include <gtest/gtest.h>

#include "server/net/response_text.h"

namespace nereid::server::net {
namespace {

struct Both {
  explicit Both(int64_t queue_bytes = 100)
      : exchange(std::make_shared<Exchange>(queue_bytes, [this] { ++wakes; })),
        handler(Exchange::responder(exchange)) {}
  int wakes = 0;
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<Responder> handler;
};

TEST(Exchange, pieces_written_before_they_are_taken_leave_as_one) {
  Both b;
  b.handler->start(200, {});
  EXPECT_EQ(b.wakes, 0);
  EXPECT_TRUE(b.handler->write("a"));
  EXPECT_TRUE(b.handler->write("b"));
  EXPECT_EQ(b.wakes, 1);
  Exchange::Part part = b.exchange->take(0);
  EXPECT_TRUE(part.has_head);
  EXPECT_EQ(part.bytes, "ab");
  EXPECT_FALSE(part.is_end);
  b.handler->write("c");
  b.handler->close();
  EXPECT_EQ(b.wakes, 2);
  part = b.exchange->take(0);
  EXPECT_FALSE(part.has_head);
  EXPECT_EQ(part.bytes, "c");
  EXPECT_TRUE(part.is_end);
}

TEST(Exchange, a_head_waits_for_its_first_bytes) {
  Both b;
  b.handler->start(200, {});
  EXPECT_FALSE(b.exchange->take(0).has_head);
  b.handler->write("x");
  EXPECT_TRUE(b.exchange->take(0).has_head);
}

TEST(Exchange, a_slow_reader_is_given_up_when_its_queue_is_full) {
  Both b(10);
  bool closed = false;
  b.handler->on_closed([&] { closed = true; });
  b.handler->start(200, {});
  EXPECT_TRUE(b.handler->write(std::string(25, 'x')));  // more than the queue, but nothing lies before it
  b.exchange->take(0);
  EXPECT_FALSE(b.handler->write("y"));
  EXPECT_TRUE(closed);
  EXPECT_TRUE(b.exchange->take(25).is_overrun);
  EXPECT_FALSE(b.handler->write("z"));
}

TEST(Exchange, what_is_with_the_client_makes_room) {
  Both b(10);
  b.handler->start(200, {});
  b.handler->write(std::string(10, 'x'));
  b.exchange->take(0);
  b.exchange->set_in_flight(2);
  EXPECT_TRUE(b.handler->write(std::string(8, 'y')));
}

TEST(Exchange, a_client_that_goes_is_told_once_and_only_while_it_matters) {
  Both gone;
  int closed = 0;
  gone.handler->on_closed([&] { ++closed; });
  gone.exchange->break_off();
  gone.exchange->break_off();
  EXPECT_EQ(closed, 1);
  EXPECT_TRUE(gone.handler->is_closed());
  gone.handler->on_closed([&] { ++closed; });  // at once
  EXPECT_EQ(closed, 2);

  Both done;
  done.handler->on_closed([&] { ++closed; });
  done.handler->send({});
  done.exchange->break_off();
  EXPECT_EQ(closed, 2);
}

TEST(Exchange, a_handler_that_lets_go_is_noticed) {
  Both b;
  b.handler.reset();
  EXPECT_EQ(b.wakes, 1);
  EXPECT_TRUE(b.exchange->take(0).is_abandoned);
  Both answered;
  answered.handler->send(text_response(200, "x"));
  answered.handler.reset();
  const Exchange::Part part = answered.exchange->take(0);
  EXPECT_FALSE(part.is_abandoned);
  EXPECT_EQ(part.head.body, "x");
}

TEST(ResponseText, no_header_brings_in_another) {
  std::string out;
  append_head(&out, 404, {{"A", "x\r\nB: y"}});
  EXPECT_EQ(out, "HTTP/1.1 404 Not Found\r\nA: x  B: y\r\n");
}

TEST(ResponseText, chunks_and_dates) {
  std::string out;
  append_chunk(&out, "");
  append_chunk(&out, std::string(26, 'x'));
  EXPECT_EQ(out, "1a\r\n" + std::string(26, 'x') + "\r\n");
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");  // RFC 9110's example
}

}  // namespace
}  // namespace nereid::server::net
