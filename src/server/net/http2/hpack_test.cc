// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "server/net/http2/hpack_decoder.h"
#include "server/net/http2/hpack_encoder.h"
#include "server/net/http2/huffman.h"

namespace nereid::server::net::http2 {
namespace {

using Outcome = HpackDecoder::Outcome;
constexpr size_t kMost = 16 << 10;

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size();) {
    if (hex[i] == ' ') {
      ++i;
      continue;
    }
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
    i += 2;
  }
  return out;
}

std::string text_of(const HeaderFields& fields) {
  std::string out;
  for (const HeaderField& one : fields) out += one.name + ": " + one.value + "\n";
  return out;
}

std::string decoded(HpackDecoder& decoder, std::string_view hex) {
  HeaderFields fields;
  const Outcome outcome = decoder.decode(bytes_of(hex), kMost, &fields);
  return outcome == Outcome::kDone ? text_of(fields) : "broken";
}

TEST(Hpack, literal_headers_are_those_of_the_rfc_c_2) {
  HpackDecoder decoder;
  EXPECT_EQ(decoded(decoder, "400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572"),
            "custom-key: custom-header\n");
  EXPECT_EQ(decoded(decoder, "040c 2f73 616d 706c 652f 7061 7468"), ":path: /sample/path\n");
  EXPECT_EQ(decoded(decoder, "1008 7061 7373 776f 7264 0673 6563 7265 74"), "password: secret\n");
  EXPECT_EQ(decoded(decoder, "82"), ":method: GET\n");
  EXPECT_EQ(decoded(decoder, "be"), "custom-key: custom-header\n");  // the one that joined the table
}

constexpr std::string_view kFirst = ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n";
constexpr std::string_view kSecond =
    ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n";
constexpr std::string_view kThird =
    ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n";

TEST(Hpack, requests_are_those_of_the_rfc_c_3) {
  HpackDecoder decoder;
  EXPECT_EQ(decoded(decoder, "8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"), kFirst);
  EXPECT_EQ(decoded(decoder, "8286 84be 5808 6e6f 2d63 6163 6865"), kSecond);
  EXPECT_EQ(decoded(decoder, "8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"), kThird);
}

TEST(Hpack, requests_in_huffmans_code_are_those_of_the_rfc_c_4) {
  HpackDecoder decoder;
  EXPECT_EQ(decoded(decoder, "8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"), kFirst);
  EXPECT_EQ(decoded(decoder, "8286 84be 5886 a8eb 1064 9cbf"), kSecond);
  EXPECT_EQ(decoded(decoder, "8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"), kThird);
}

constexpr std::string_view kDate21 = "date: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n";
constexpr std::string_view kLast =
    ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n"
    "content-encoding: gzip\nset-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n";

// The examples' table has 256 bytes, so that entries are put out of it; the first block says so here.
TEST(Hpack, responses_that_fill_the_table_are_those_of_the_rfc_c_5) {
  HpackDecoder decoder;
  EXPECT_EQ(decoded(decoder,
                    "3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a "
                    "3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"),
            ":status: 302\ncache-control: private\n" + std::string(kDate21));
  EXPECT_EQ(decoded(decoder, "4803 3330 37c1 c0bf"), ":status: 307\ncache-control: private\n" + std::string(kDate21));
  EXPECT_EQ(decoded(decoder,
                    "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a "
                    "6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d "
                    "6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31"),
            kLast);
}

TEST(Hpack, responses_in_huffmans_code_are_those_of_the_rfc_c_6) {
  HpackDecoder decoder;
  EXPECT_EQ(decoded(decoder,
                    "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e "
                    "919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3"),
            ":status: 302\ncache-control: private\n" + std::string(kDate21));
  EXPECT_EQ(decoded(decoder, "4883 640e ffc1 c0bf"), ":status: 307\ncache-control: private\n" + std::string(kDate21));
  EXPECT_EQ(decoded(decoder,
                    "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d "
                    "d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 "
                    "3d50 07"),
            kLast);
}

TEST(Hpack, what_cannot_be_read_is_broken) {
  const std::string_view broken[] = {
      "80",                       // the index 0
      "be",                       // beyond an empty table
      "ff ff ff ff ff",           // a number that does not end
      "ff ffffffffff7f",          // a number beyond all indices
      "40 05 61",                 // a name that is cut
      "40 01 61 05 62",           // a value that is cut
      "00",                       // no name
      "82 20",                    // a size behind a header
      "3f e2 1f",                 // a size of 4,097 bytes
      "40 81 1d 01 62",           // padding that is not of ones: "a" is 00011
      "40 82 1f ff 01 62",        // a byte of padding
      "40 84 ff ff ff ff 01 62",  // the end of the code
  };
  for (const std::string_view hex : broken) {
    HpackDecoder decoder;
    EXPECT_EQ(decoded(decoder, hex), "broken") << hex;
  }
}

TEST(Hpack, too_many_headers_leave_a_table_that_is_right) {
  HpackDecoder decoder;
  HeaderFields fields;
  // Two headers that join the table, where there is room for one.
  EXPECT_EQ(decoder.decode(bytes_of("40 0161 0162 40 0163 0164"), 40, &fields), Outcome::kTooLong);
  EXPECT_EQ(text_of(fields), "a: b\n");
  EXPECT_EQ(decoded(decoder, "bf be"), "a: b\nc: d\n");
}

TEST(Hpack, what_is_written_is_read_and_common_headers_become_a_byte) {
  HpackEncoder encoder;
  HpackDecoder decoder;
  const HeaderFields head = {
      {":status", "200", true}, {"content-type", "application/grpc", true}, {"x", std::string(300, 'y')}};
  size_t first_bytes = 0;
  for (int i = 0; i < 3; ++i) {
    std::string block;
    encoder.encode(head, &block);
    HeaderFields fields;
    ASSERT_EQ(decoder.decode(block, kMost, &fields), Outcome::kDone);
    EXPECT_EQ(text_of(fields), text_of(head));
    if (i == 0) first_bytes = block.size();
    if (i > 0) {
      EXPECT_EQ(block.size(), first_bytes - 17);  // of the type: a byte for itself, its name, its length, its text
    }
  }
}

TEST(Hpack, a_client_without_a_table_gets_all_in_full) {
  HpackEncoder encoder;
  encoder.set_table_bytes(0);
  HpackDecoder decoder;
  const HeaderFields head = {{"grpc-status", "0", true}};
  for (int i = 0; i < 2; ++i) {
    std::string block;
    encoder.encode(head, &block);
    EXPECT_THAT(block, ::testing::HasSubstr(std::string("grpc-status\1") + "0"));
    HeaderFields fields;
    ASSERT_EQ(decoder.decode(block, kMost, &fields), Outcome::kDone);
    EXPECT_EQ(text_of(fields), text_of(head));
  }
}

}  // namespace
}  // namespace nereid::server::net::http2
