// SPDX-License-Identifier: Apache-2.0
#include "server/net/response_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server::net {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kDate = "Mon, 30 Nov 2026 16:20:00 GMT";

// All that is to be sent, taken in steps of so many bytes.
std::string send_all(ResponseWriter* writer, size_t step) {
  std::string out;
  while (writer->has_output()) {
    std::string_view pieces[3];
    const size_t count = writer->pieces(pieces);
    std::string now;
    for (size_t i = 0; i < count; ++i) now += pieces[i];
    now.resize(std::min(now.size(), step));
    out += now;
    writer->sent(now.size());
  }
  return out;
}

Response long_response(std::shared_ptr<const std::string> part) {
  Response response{.status = 200, .headers = {}, .body = std::string(20'000, 'a')};
  response.parts.push_back({.bytes = std::string_view(*part).substr(1), .owner = part});
  response.parts.push_back({.bytes = "end", .owner = nullptr});
  return response;
}

TEST(ResponseWriter, sends_a_body_and_its_parts_in_order_however_they_are_cut) {
  for (const size_t step : {size_t{1} << 20, size_t{997}, size_t{1}}) {
    ResponseWriter writer;
    writer.begin({.keeps_alive = true});
    writer.append_whole(long_response(std::make_shared<const std::string>("bcd")), Router(), kDate);
    EXPECT_TRUE(writer.is_whole());
    EXPECT_EQ(writer.body_bytes(), 20'005);
    const std::string sent = send_all(&writer, step);
    EXPECT_THAT(sent, HasSubstr("Content-Length: 20005\r\n"));
    EXPECT_THAT(sent, EndsWith("\r\n\r\n" + std::string(20'000, 'a') + "cdend"));
    EXPECT_EQ(writer.left(), 0u);
  }
}

TEST(ResponseWriter, keeps_a_long_part_where_it_lies_until_it_is_sent) {
  auto part = std::make_shared<const std::string>(std::string(100'000, 'x'));
  ResponseWriter writer;
  writer.begin({.keeps_alive = true});
  Response response;
  response.parts.push_back({.bytes = *part, .owner = part});
  writer.append_whole(std::move(response), Router(), kDate);
  std::string_view pieces[3];
  ASSERT_EQ(writer.pieces(pieces), 2u);
  EXPECT_EQ(pieces[1].data(), part->data());
  EXPECT_EQ(part.use_count(), 2);
  send_all(&writer, 65'536);
  EXPECT_EQ(part.use_count(), 1);
}

TEST(ResponseWriter, a_head_request_gets_the_length_and_no_body) {
  ResponseWriter writer;
  writer.begin({.is_head_request = true, .keeps_alive = true});
  writer.append_whole(long_response(std::make_shared<const std::string>("bcd")), Router(), kDate);
  const std::string sent = send_all(&writer, 1'000);
  EXPECT_THAT(sent, HasSubstr("Content-Length: 20005\r\n"));
  EXPECT_THAT(sent, EndsWith("\r\n\r\n"));
}

TEST(ResponseWriter, streams_in_chunks_and_to_old_clients_to_the_end_of_the_connection) {
  for (const bool is_old : {false, true}) {
    ResponseWriter writer;
    writer.begin({.is_http_1_0 = is_old, .keeps_alive = true});
    Exchange::Part part;
    part.has_head = true;
    part.bytes = "abc";
    writer.append(std::move(part), Router(), kDate);
    EXPECT_FALSE(writer.is_whole());
    Exchange::Part last;
    last.is_end = true;
    writer.append(std::move(last), Router(), kDate);
    EXPECT_TRUE(writer.is_whole());
    EXPECT_EQ(writer.keeps_alive(), !is_old);
    const std::string sent = send_all(&writer, 7);
    if (is_old) {
      EXPECT_THAT(sent, EndsWith("\r\n\r\nabc"));
      EXPECT_THAT(sent, Not(HasSubstr("chunked")));
    } else {
      EXPECT_THAT(sent, EndsWith("\r\n\r\n3\r\nabc\r\n0\r\n\r\n"));
    }
  }
}

}  // namespace
}  // namespace nereid::server::net
