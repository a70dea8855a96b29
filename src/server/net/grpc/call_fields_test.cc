// SPDX-License-Identifier: Apache-2.0
#include "server/net/grpc/call_fields.h"

#include <gtest/gtest.h>

namespace nereid::server::net::grpc {
namespace {

http2::RequestHead request(http2::HeaderFields headers) {
  headers.insert(headers.begin(), {"content-type", "application/grpc"});
  return {.method = "POST", .scheme = "http", .authority = "a", .path = "/s/m", .headers = std::move(headers)};
}

TEST(CallFields, times_are_those_of_the_protocol) {
  EXPECT_EQ(read_timeout_ns("20u"), 20'000);
  EXPECT_EQ(read_timeout_ns("3n"), 3);
  EXPECT_EQ(read_timeout_ns("5m"), 5'000'000);
  EXPECT_EQ(read_timeout_ns("2S"), 2'000'000'000);
  EXPECT_EQ(read_timeout_ns("1M"), 60'000'000'000);
  EXPECT_EQ(read_timeout_ns("1H"), 3'600'000'000'000);
  EXPECT_GT(read_timeout_ns("99999999H"), 0);
  for (const char* wrong : {"", "5", "S", "-1S", "1x", "123456789S", "1.5S"})
    EXPECT_EQ(read_timeout_ns(wrong), -1) << wrong;
}

TEST(CallFields, messages_of_a_status_are_visible_ascii_on_the_wire) {
  EXPECT_EQ(percent_encoded("a model 'x' is not there"), "a model 'x' is not there");
  EXPECT_EQ(percent_encoded("50% \xc3\xa4\n"), "50%25 %C3%A4%0A");
}

TEST(CallFields, metadata_is_what_is_nobody_elses_and_binary_values_are_decoded) {
  CallHead head;
  CallTerms terms;
  ASSERT_TRUE(read_call_fields(request({{"te", "trailers"},
                                        {"grpc-timeout", "1S"},
                                        {"grpc-accept-encoding", "identity, deflate,gzip"},
                                        {"grpc-encoding", "deflate"},
                                        {"user-agent", "x"},
                                        {"key-bin", "AAEC/w"},
                                        {"padded-bin", "YQ=="}}),
                               &head, &terms)
                  .is_ok());
  EXPECT_EQ(head.path, "/s/m");
  EXPECT_EQ(head.metadata,
            (Metadata{{"user-agent", "x"}, {"key-bin", std::string("\0\1\2\xff", 4)}, {"padded-bin", "a"}}));
  EXPECT_EQ(terms.timeout_ns, 1'000'000'000);
  EXPECT_EQ(terms.coding, Coding::kDeflate);
  EXPECT_TRUE(terms.takes_gzip && terms.takes_deflate);
}

TEST(CallFields, another_coding_or_time_is_refused) {
  CallHead head;
  CallTerms terms;
  EXPECT_EQ(read_call_fields(request({{"grpc-encoding", "br"}}), &head, &terms).code(), StatusCode::kUnsupported);
  EXPECT_EQ(read_call_fields(request({{"grpc-timeout", "soon"}}), &head, &terms).code(), StatusCode::kInvalidArgument);
}

TEST(CallFields, what_is_no_call_is_told_by_http) {
  EXPECT_EQ(refusal(request({})), std::nullopt);
  http2::RequestHead get = request({});
  get.method = "GET";
  EXPECT_EQ(refusal(get), 405);
  http2::RequestHead json = request({});
  json.headers[0].value = "application/json";
  EXPECT_EQ(refusal(json), 415);
  json.headers[0].value = "application/grpcweb";
  EXPECT_EQ(refusal(json), 415);
  json.headers[0].value = "application/grpc+proto";
  EXPECT_EQ(refusal(json), std::nullopt);
}

}  // namespace
}  // namespace nereid::server::net::grpc
