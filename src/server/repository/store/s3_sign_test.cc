// SPDX-License-Identifier: Apache-2.0
// Requests that botocore has signed (tests/golden/s3).
#include "server/repository/store/s3_sign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"

namespace nereid::server {
namespace {

TEST(S3Sign, signs_as_botocore_does) {
  const Json cases =
      parse_json(read_file(std::string(NEREID_SOURCE_DIR) + "/tests/golden/s3/sigv4.json", 1 << 20).value()).value();
  ASSERT_GE(cases.size(), 6U);
  for (const Json& one : cases) {
    S3Request request{.host = one["host"], .path = one["path"], .query = {}};
    for (const auto& [name, value] : one["query"].items()) request.query.emplace_back(name, value);
    const S3Credentials credentials{
        .key = one["key"], .secret = one["secret"], .token = one["token"], .region = one["region"]};
    const std::vector<std::string> headers = s3_sign(request, credentials, one["time"].get<std::string>());
    EXPECT_THAT(headers, ::testing::Contains("Authorization: " + one["authorization"].get<std::string>()))
        << one.dump();
    EXPECT_THAT(headers, ::testing::Contains("x-amz-date: " + one["time"].get<std::string>()));
  }
}

TEST(S3Sign, nobody_signs_without_a_key) {
  EXPECT_THAT(s3_sign({.host = "a", .path = "/b", .query = {}}, {}, "20130524T000000Z"), ::testing::IsEmpty());
}

}  // namespace
}  // namespace nereid::server
