// SPDX-License-Identifier: Apache-2.0
// Bytes of a peer, put together by hand from RFC 9113 and RFC 7541.
#include "server/load/grpc_caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server::load {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

std::string frame(int type, int flags, int stream, const std::string& payload) {
  const auto n = static_cast<int>(payload.size());
  return bytes({n >> 16, n >> 8 & 255, n & 255, type, flags, 0, 0, stream >> 8, stream & 255}) + payload;
}

const auto kMessage = std::make_shared<const std::string>("abc");
constexpr const char* kStatusName = "grpc-status";
std::string trailers(int stream, const std::string& status, const std::string& message = "") {
  std::string block = bytes({0x40, 11}) + kStatusName + bytes({static_cast<int>(status.size())}) + status;
  if (!message.empty())
    block += bytes({0x40, 12}) + "grpc-message" + bytes({static_cast<int>(message.size())}) + message;
  return frame(1, 0x5, stream, block);
}

std::string take_all(GrpcCaller* caller) {
  std::string out;
  std::string_view pieces[4];
  while (const size_t count = caller->pieces(pieces)) {
    std::string now;
    for (size_t i = 0; i < count; ++i) now += pieces[i];
    now.resize(std::min<size_t>(now.size(), 1000));
    out += now;
    caller->sent(now.size());
  }
  return out;
}

std::string answer(int stream, const std::string& message) {
  return frame(1, 0x4, stream, bytes({0x88})) +
         frame(0, 0, stream, bytes({0, 0, 0, 0, static_cast<int>(message.size())}) + message);
}

TEST(GrpcCaller, a_call_is_a_preface_once_then_headers_and_the_message) {
  GrpcCaller caller("h:1", "/p.S/M", kMessage);
  caller.begin();
  const std::string first = take_all(&caller);
  EXPECT_THAT(first, StartsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_THAT(first, HasSubstr("/p.S/M"));
  EXPECT_TRUE(first.ends_with(frame(0, 1, 1, bytes({0, 0, 0, 0, 3}) + "abc")));
  caller.feed(frame(4, 0, 0, "") + answer(1, "defg") + trailers(1, "0"));
  EXPECT_TRUE(caller.is_done());
  EXPECT_EQ(caller.error(), "");
  EXPECT_EQ(caller.answer_bytes(), 4);
  caller.begin();
  // The settings are acknowledged; the headers are in the server's table by now.
  EXPECT_EQ(take_all(&caller), frame(4, 1, 0, "") + frame(1, 4, 3, bytes({0x83, 0x86, 0xc1, 0xc0, 0xbf, 0xbe})) +
                                   frame(0, 1, 3, bytes({0, 0, 0, 0, 3}) + "abc"));
}

TEST(GrpcCaller, answers_may_come_cut_anywhere) {
  const std::string all = frame(6, 0, 0, "12345678") + answer(1, "defg") + trailers(1, "0");
  for (size_t cut = 1; cut < all.size(); ++cut) {
    GrpcCaller caller("h", "/p", kMessage);
    caller.begin();
    take_all(&caller);
    caller.feed(all.substr(0, cut));
    caller.feed(all.substr(cut));
    EXPECT_TRUE(caller.is_done()) << cut;
    EXPECT_EQ(caller.error(), "") << cut;
    EXPECT_EQ(take_all(&caller), frame(6, 1, 0, "12345678")) << "a ping is answered";
  }
}

TEST(GrpcCaller, a_long_message_waits_for_the_servers_windows) {
  const auto message = std::make_shared<const std::string>(100'000, 'x');
  GrpcCaller caller("h", "/p", message);
  caller.begin();
  const size_t first = take_all(&caller).size();
  EXPECT_LT(first, 66'000u);
  caller.feed(frame(8, 0, 0, bytes({0, 1, 0, 0})));
  EXPECT_EQ(take_all(&caller), "") << "the stream has a window of its own";
  caller.feed(frame(8, 0, 1, bytes({0, 1, 0, 0})));
  const size_t frames = (message->size() + 5 + 16'383) / 16'384;
  EXPECT_GT(first + take_all(&caller).size(), message->size() + 5 + 9 * frames);
  EXPECT_FALSE(caller.is_done());
}

TEST(GrpcCaller, what_goes_wrong_is_said) {
  const auto error_of = [](const std::string& peer) {
    GrpcCaller caller("h", "/p", kMessage);
    caller.begin();
    take_all(&caller);
    caller.feed(peer);
    EXPECT_TRUE(caller.is_done());
    return caller.error();
  };
  EXPECT_EQ(error_of(trailers(1, "5", "no model")), "gRPC status 5: no model");
  const std::string sentence(200, 'x');
  EXPECT_EQ(error_of(frame(1, 0x5, 1,
                           bytes({0x40, 11}) + kStatusName + bytes({1}) + "3" + bytes({0x40, 12}) + "grpc-message" +
                               bytes({0x7f, 73}) + sentence)),
            "gRPC status 3: " + sentence);
  EXPECT_THAT(error_of(trailers(1, "0")), HasSubstr("not as long as it says"));
  EXPECT_THAT(error_of(frame(0, 0, 1, bytes({0, 0, 0, 0, 9}) + "ab") + trailers(1, "0")), HasSubstr("not as long"));
  EXPECT_THAT(error_of(frame(3, 0, 1, bytes({0, 0, 0, 8}))), HasSubstr("HTTP/2's error 8"));
  EXPECT_THAT(error_of(frame(7, 0, 0, bytes({0, 0, 0, 0, 0, 0, 0, 0}))), HasSubstr("ends"));
  EXPECT_THAT(error_of(bytes({255, 255, 255, 0, 0, 0, 0, 0, 1})), HasSubstr("longer than any"));
}

}  // namespace
}  // namespace nereid::server::load
