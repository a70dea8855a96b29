// SPDX-License-Identifier: Apache-2.0
#include "server/net/grpc/message_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/net/http2/frame.h"

namespace nereid::server::net::grpc {
namespace {

std::string framed(std::string_view message, char flag = '\0') {
  std::string out(1, flag);
  http2::append_number(&out, message.size(), 4);
  return out.append(message);
}

// The messages of a body that comes in pieces of at most `step` bytes, a line each; the error behind them.
std::string read(std::string body, size_t step, std::optional<Coding> coding = std::nullopt,
                 int64_t most_bytes = 1 << 20) {
  MessageReader reader(std::make_shared<BytePool>(), most_bytes, coding);
  std::string out;
  while (!body.empty()) {
    const std::span<char> room = reader.room();
    if (room.empty()) return out + "no room";
    const size_t n = std::min({room.size(), step, body.size()});
    std::copy_n(body.begin(), n, room.begin());
    body.erase(0, n);
    RpcStatus status;
    if (const auto message = reader.came(n, &status)) out += *message + "\n";
    if (!status.is_ok()) {
      EXPECT_TRUE(reader.room().empty());
      return out + std::to_string(static_cast<int>(status.code));
    }
  }
  return out + (reader.is_between() ? "" : "cut");
}

TEST(MessageReader, messages_are_whole_whatever_the_pieces) {
  const std::string body = framed("one") + framed("") + framed("three");
  for (const size_t step : {1, 2, 3, 5, 100}) EXPECT_EQ(read(body, step), "one\n\nthree\n") << step;
}

TEST(MessageReader, a_long_message_is_read_to_one_place) {
  std::string text(700'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 23);
  EXPECT_EQ(read(framed(text), 100'000), text + "\n");
}

TEST(MessageReader, a_length_alone_takes_little_memory) {
  MessageReader reader(std::make_shared<BytePool>(), 0x7fff'ffff, std::nullopt);
  const std::string head = framed("").substr(0, 1) + "\x7f\xff\xff\xff";
  std::copy(head.begin(), head.end(), reader.room().begin());
  RpcStatus status;
  EXPECT_EQ(reader.came(5, &status), nullptr);
  EXPECT_TRUE(status.is_ok());
  EXPECT_LE(reader.room().size(), 1u << 20);
}

TEST(MessageReader, packed_messages_are_unpacked) {
  const std::string text(10'000, 'x');
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate})
    EXPECT_EQ(read(framed(pack(coding, text), '\1') + framed("plain"), 1000, coding), text + "\nplain\n");
}

TEST(MessageReader, what_is_no_message_is_told) {
  EXPECT_EQ(read(framed("x", '\2'), 100), "13");                        // neither packed nor not
  EXPECT_EQ(read(framed("x", '\1'), 100), "13");                        // packed by what?
  EXPECT_EQ(read(framed("no gzip", '\1'), 100, Coding::kGzip), "13");   // not as it says
  EXPECT_EQ(read(framed("twelve bytes"), 100, std::nullopt, 11), "8");  // RESOURCE_EXHAUSTED
  EXPECT_EQ(read(framed(pack(Coding::kGzip, std::string(5000, 'x')), '\1'), 100, Coding::kGzip, 4999), "8");
  EXPECT_EQ(read(framed("cut").substr(0, 7), 100), "cut");
}

}  // namespace
}  // namespace nereid::server::net::grpc
