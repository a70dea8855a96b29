// SPDX-License-Identifier: Apache-2.0
// AWS Signature Version 4 of a GET without a body: pure text, from the specification.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::server {

struct S3Credentials {
  std::string key, secret, token;  // no key: requests are not signed
  std::string region = "us-east-1";
};

struct S3Request {
  std::string host;  // with the port where it is not the scheme's own
  std::string path;  // "/bucket/key", not encoded
  std::vector<std::pair<std::string, std::string>> query;
};

// Each byte but A-Z a-z 0-9 - _ . ~ as %XX; `keep_slash` leaves '/'.
std::string s3_encode(std::string_view text, bool keep_slash);
// "a=b&c=d", encoded and in order.
std::string s3_query(const S3Request& request);
// The headers to send, "Name: value". `time`: "20130524T000000Z".
std::vector<std::string> s3_sign(const S3Request& request, const S3Credentials& credentials, std::string_view time);

}  // namespace nereid::server
