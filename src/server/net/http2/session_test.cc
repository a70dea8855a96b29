// SPDX-License-Identifier: Apache-2.0
#include "server/net/http2/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/net/http2/test_session.h"

namespace nereid::server::net::http2 {
namespace {

using ::testing::HasSubstr;

constexpr uint8_t kWholeHead = kEndHeaders | kEndStream;

TEST(Session, a_request_and_its_answer_are_two_frames_each) {
  TestSession talk;
  talk.begin();
  EXPECT_EQ(talk.lines(), "SETTINGS ack\n");
  talk.post(1);
  talk.feed(frame(FrameType::kData, kEndStream, 1, "hello"));
  EXPECT_EQ(talk.requests[1].path, "/");
  EXPECT_EQ(talk.requests[1].body, "hello");
  EXPECT_TRUE(talk.requests[1].has_ended);
  talk.answer(1, "world");
  EXPECT_EQ(talk.lines(), "HEADERS 1\nDATA 1 5 end\n");
  EXPECT_EQ(talk.requests[1].sent, 5);
  EXPECT_FALSE(talk.session.has_streams());
}

TEST(Session, bytes_may_come_one_by_one) {
  TestSession talk;
  const std::string all = std::string(kPreface) + frame(FrameType::kSettings, 0, 0, "") +
                          frame(FrameType::kHeaders, kEndHeaders, 1, kPost) +
                          frame(FrameType::kData, kPadded, 1, std::string("\3abcdefghijk\0\0\0", 15)) +
                          frame(static_cast<FrameType>(77), 3, 1, "unknown") +
                          frame(FrameType::kData, kEndStream, 1, "l");
  for (const char byte : all) talk.feed({&byte, 1});
  EXPECT_EQ(talk.requests[1].body, "abcdefghijkl");
  EXPECT_TRUE(talk.requests[1].has_ended);
  EXPECT_EQ(talk.lines(), "SETTINGS ack\n");
}

TEST(Session, a_body_goes_straight_to_where_its_reader_wants_it) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  EXPECT_TRUE(talk.session.body_room().empty());
  const std::string data = frame(FrameType::kData, kEndStream, 1, "abcdefghij");
  talk.feed(std::string_view(data).substr(0, kFrameHeadBytes + 2));
  const std::span<char> room = talk.session.body_room();
  ASSERT_EQ(room.size(), 7u);
  std::ranges::copy(std::string_view("cdefghi"), room.begin());
  talk.session.body_came(7);
  ASSERT_EQ(talk.session.body_room().size(), 1u);  // of the frame, not of the reader's room
  talk.feed("j");
  EXPECT_EQ(talk.requests[1].body, "abcdefghij");
  EXPECT_TRUE(talk.requests[1].has_ended);
}

TEST(Session, a_header_block_may_come_in_pieces) {
  TestSession talk;
  talk.begin();
  talk.feed(frame(FrameType::kHeaders, kEndStream, 1, kPost.substr(0, 1)) +
            frame(FrameType::kContinuation, 0, 1, kPost.substr(1, 1)) +
            frame(FrameType::kContinuation, kEndHeaders, 1, kPost.substr(2)));
  EXPECT_TRUE(talk.requests[1].has_ended);
}

TEST(Session, answers_wait_for_the_windows_of_the_stream_and_of_the_connection) {
  TestSession talk;
  talk.feed(std::string(kPreface) +
            frame(FrameType::kSettings, 0, 0, number(4, 2) + number(10, 4)));  // the streams' first window
  talk.post(1, kEndStream);
  talk.lines();
  talk.answer(1, std::string(25, 'x'));
  EXPECT_EQ(talk.lines(), "HEADERS 1\nDATA 1 10\n");
  talk.feed(frame(FrameType::kWindowUpdate, 0, 1, number(5, 4)));
  EXPECT_EQ(talk.lines(), "DATA 1 5\n");
  talk.feed(frame(FrameType::kSettings, 0, 0, number(4, 2) + number(20, 4)));
  EXPECT_EQ(talk.lines(), "SETTINGS ack\nDATA 1 10 end\n");
}

TEST(Session, a_window_that_shrinks_below_nothing_has_to_grow_first) {
  TestSession talk;
  talk.begin();
  talk.post(1, kEndStream);
  talk.answer(1, std::string(100, 'x'), false);
  EXPECT_THAT(talk.lines(), HasSubstr("DATA 1 100\n"));
  talk.feed(frame(FrameType::kSettings, 0, 0, number(4, 2) + number(50, 4)));  // of which 100 are gone
  talk.answer(1, "y");
  EXPECT_EQ(talk.lines(), "SETTINGS ack\n");
  talk.feed(frame(FrameType::kWindowUpdate, 0, 1, number(51, 4)));
  EXPECT_EQ(talk.lines(), "DATA 1 1 end\n");
}

TEST(Session, the_connections_window_is_shared_by_turns) {
  TestSession talk;
  talk.begin();
  talk.post(1, kEndStream);
  talk.post(3, kEndStream);
  talk.answer(1, std::string(60'000, 'x'));
  talk.answer(3, std::string(60'000, 'y'));
  const std::string lines = talk.lines();  // frames of 16,384 bytes, 65,535 in all
  EXPECT_EQ(lines, "SETTINGS ack\nHEADERS 1\nHEADERS 3\nDATA 1 16384\nDATA 3 16384\nDATA 1 16384\nDATA 3 16383\n");
  talk.feed(frame(FrameType::kWindowUpdate, 0, 0, number(1 << 20, 4)));
  EXPECT_THAT(talk.lines(), HasSubstr("DATA 3 10849 end\n"));
}

TEST(Session, what_has_been_read_is_given_back) {
  TestSession talk({.stream_window = 100, .connection_window = 70'000});
  talk.begin();
  talk.post(1);
  talk.lines();
  talk.feed(frame(FrameType::kData, 0, 1, std::string(49, 'x')));
  EXPECT_EQ(talk.lines(), "");
  talk.feed(frame(FrameType::kData, 0, 1, "x"));
  EXPECT_EQ(talk.lines(), "WINDOW_UPDATE 1 50\n");
}

TEST(Session, an_answer_before_the_requests_end_ends_the_request) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  talk.lines();
  talk.answer(1, "no");
  EXPECT_EQ(talk.lines(), "HEADERS 1\nDATA 1 2 end\nRST_STREAM 1 NO_ERROR\n");
  talk.feed(frame(FrameType::kData, kEndStream, 1, "late"));
  EXPECT_EQ(talk.lines(), "");
  EXPECT_FALSE(talk.session.is_broken());
}

TEST(Session, a_request_that_is_taken_back_is_told_and_answered_no_more) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  talk.lines();
  talk.feed(frame(FrameType::kReset, 0, 1, number(8, 4)));
  EXPECT_EQ(talk.requests[1].broken, "CANCEL");
  talk.answer(1, "nobody");
  EXPECT_EQ(talk.lines(), "");
}

TEST(Session, the_end_of_a_connection_is_told_to_all_requests) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  talk.post(3, kEndStream);
  talk.session.lose();
  EXPECT_EQ(talk.requests[1].broken, "CANCEL");
  EXPECT_EQ(talk.requests[3].broken, "CANCEL");
}

TEST(Session, draining_refuses_what_comes_and_lets_the_rest_end) {
  TestSession talk;
  talk.begin();
  talk.post(1, kEndStream);
  talk.lines();
  talk.session.drain();
  talk.post(3, kEndStream);
  EXPECT_EQ(talk.lines(), "GOAWAY 1 NO_ERROR\nRST_STREAM 3 REFUSED_STREAM\n");
  talk.answer(1, "x");
  EXPECT_EQ(talk.lines(), "HEADERS 1\nDATA 1 1 end\n");
  EXPECT_FALSE(talk.session.has_streams());
}

TEST(Session, deadlines_are_told_once) {
  TestSession talk;
  talk.begin();
  talk.post(1);
  talk.session.set_deadline(1, 100);
  EXPECT_EQ(talk.session.deadline_ns(), 100);
  talk.session.on_deadline(99);
  EXPECT_FALSE(talk.requests[1].is_late);
  talk.session.on_deadline(100);
  EXPECT_TRUE(talk.requests[1].is_late);
  EXPECT_EQ(talk.session.deadline_ns(), INT64_MAX);
}

TEST(Session, pings_are_answered) {
  TestSession talk;
  talk.begin();
  talk.lines();
  talk.feed(frame(FrameType::kPing, 0, 0, "abcdefgh"));
  EXPECT_EQ(talk.lines(), "PING abcdefgh ack\n");
}

// ---- too much

TEST(Session, streams_beyond_the_limit_are_refused_those_that_still_run_counted) {
  TestSession talk({.max_streams = 2});
  talk.begin();
  talk.post(1);
  talk.post(3);
  talk.lines();
  talk.post(5);
  EXPECT_EQ(talk.lines(), "RST_STREAM 5 REFUSED_STREAM\n");
  talk.feed(frame(FrameType::kReset, 0, 1, number(8, 4)) + frame(FrameType::kReset, 0, 3, number(8, 4)));
  talk.running_streams = 2;
  talk.post(7);
  EXPECT_EQ(talk.lines(), "RST_STREAM 7 REFUSED_STREAM\n");
  talk.running_streams = 0;
  talk.post(9);
  EXPECT_EQ(talk.requests.count(9), 1u);
}

TEST(Session, headers_beyond_the_limit_are_431_and_the_connection_goes_on) {
  TestSession talk({.max_header_bytes = 200});
  talk.begin();
  talk.lines();
  talk.feed(
      frame(FrameType::kHeaders, kWholeHead, 1, kPost + std::string("\x40\1a\x7f\x01", 5) + std::string(128, 'b')));
  EXPECT_EQ(talk.lines(), "HEADERS 1 end\n");
  talk.post(3, kEndStream);
  EXPECT_TRUE(talk.requests[3].has_ended);
}

TEST(Session, floods_end_the_connection) {
  const auto flood = [](auto&& one) {
    TestSession talk;
    talk.begin();
    talk.lines();
    for (uint32_t i = 0; i < 200'000 && !talk.session.is_broken(); ++i) {
      one(talk, i);
      talk.session.out().clear();
    }
    return error_name(talk.session.error());
  };
  EXPECT_EQ(flood([](TestSession& t, uint32_t i) {
              t.post(2 * i + 1);
              t.feed(frame(FrameType::kReset, 0, 2 * i + 1, number(8, 4)));
            }),
            "ENHANCE_YOUR_CALM");
  EXPECT_EQ(flood([](TestSession& t, uint32_t) { t.feed(frame(FrameType::kSettings, 0, 0, "")); }),
            "ENHANCE_YOUR_CALM");
  EXPECT_EQ(flood([](TestSession& t, uint32_t) { t.feed(frame(FrameType::kPriority, 0, 1, "\0\0\0\0\0")); }),
            "ENHANCE_YOUR_CALM");
  EXPECT_EQ(flood([](TestSession& t, uint32_t) { t.feed(frame(FrameType::kPing, 0, 0, "12345678")); }),
            "ENHANCE_YOUR_CALM");
  EXPECT_EQ(flood([](TestSession& t, uint32_t i) {
              if (i == 0) t.post(1);
              t.feed(frame(FrameType::kData, 0, 1, ""));
            }),
            "ENHANCE_YOUR_CALM");
  EXPECT_EQ(flood([](TestSession& t, uint32_t i) {
              t.feed(frame(i == 0 ? FrameType::kHeaders : FrameType::kContinuation, 0, 1, ""));
            }),
            "ENHANCE_YOUR_CALM");
}

TEST(Session, pings_between_answers_are_no_flood) {
  TestSession talk;
  talk.begin();
  for (uint32_t id = 1; id < 20'000; id += 2) {
    talk.at_ns += 1'000'000;
    talk.feed(frame(FrameType::kPing, 0, 0, "12345678"));
    talk.post(id, kEndStream);
    talk.answer(id, "x");
    talk.lines();
  }
  EXPECT_FALSE(talk.session.is_broken());
}

TEST(Session, who_does_not_read_his_answers_may_not_ask_for_more) {
  TestSession talk;
  talk.begin();
  talk.post(1, kEndStream);
  talk.post(3, kEndStream);
  talk.answer(1, std::string(300 << 20, 'x'));
  talk.lines();
  talk.post(5);
  EXPECT_EQ(talk.lines(), "RST_STREAM 5 REFUSED_STREAM\n");
  talk.feed(frame(FrameType::kReset, 0, 1, number(8, 4)));
  talk.post(7);
  EXPECT_EQ(talk.requests.count(7), 1u);
}

TEST(OutQueue, what_is_never_sent_whole_does_not_grow) {
  OutQueue queue;
  queue.text()->append(100, 'x');
  size_t most = 0;
  for (int i = 0; i < 10'000; ++i) {  // always 100 bytes behind
    queue.text()->append(1000, 'x');
    queue.sent(1000);
    most = std::max(most, queue.text()->size());
  }
  EXPECT_EQ(queue.bytes(), 100u);
  EXPECT_LE(most, 40'000u);
}

TEST(Session, a_client_that_reads_nothing_is_not_answered_for_ever) {
  TestSession talk({.max_ping_strikes = 0});
  talk.begin();
  for (int i = 0; i < 400'000 && !talk.session.is_broken(); ++i) {
    talk.at_ns += 1'000'000;
    talk.feed(frame(FrameType::kPing, 0, 0, "12345678"));
  }
  EXPECT_EQ(error_name(talk.session.error()), "ENHANCE_YOUR_CALM");
}

}  // namespace
}  // namespace nereid::server::net::http2
