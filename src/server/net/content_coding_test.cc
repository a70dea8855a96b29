// SPDX-License-Identifier: Apache-2.0
#include "server/net/content_coding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace nereid::server::net {
namespace {

using ::testing::HasSubstr;

// Python's gzip.compress(b"hello" * 3, mtime=0), zlib.compress(...) and the same without its frame.
constexpr std::string_view kHello = "hellohellohello";
const std::string kGzip(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xcf\x80\x13\x00\x0b\xb4\x21\x3e\x0f\x00\x00\x00", 27);
const std::string kZlib("\x78\x9c\xcb\x48\xcd\xc9\xc9\xcf\x80\x13\x00\x31\xb0\x06\x3d", 15);
const std::string kRaw("\xcb\x48\xcd\xc9\xc9\xcf\x80\x13\x00", 9);

std::string decoded(Coding coding, std::string_view bytes, int64_t most = 1 << 20) {
  std::string plain;
  const std::optional<HttpError> error = decode(coding, bytes, most, &plain);
  return error ? fmt::format("{} {}", error->status, error->message) : plain;
}

TEST(ContentCoding, reads_what_other_programs_wrote) {
  EXPECT_EQ(decoded(Coding::kGzip, kGzip), kHello);
  EXPECT_EQ(decoded(Coding::kDeflate, kZlib), kHello);
  EXPECT_EQ(decoded(Coding::kDeflate, kRaw), kHello);
  EXPECT_EQ(decoded(Coding::kGzip, kGzip + kGzip), fmt::format("{0}{0}", kHello));
}

TEST(ContentCoding, says_what_is_wrong_with_a_body) {
  EXPECT_EQ(decoded(Coding::kGzip, ""), "400 the request's body is said to be gzip, but it ends too early");
  EXPECT_EQ(decoded(Coding::kGzip, "{\"a\": 1}"), "400 the request's body is said to be gzip, but it is not");
  EXPECT_EQ(decoded(Coding::kDeflate, "{\"a\": 1}"), "400 the request's body is said to be deflate, but it is not");
  for (size_t n = 1; n < kGzip.size(); ++n)
    EXPECT_THAT(decoded(Coding::kGzip, kGzip.substr(0, n)), HasSubstr("400 ")) << n;
  EXPECT_THAT(decoded(Coding::kGzip, kGzip + "x"), HasSubstr("400 "));
  EXPECT_THAT(decoded(Coding::kDeflate, kZlib + "x"), HasSubstr("something follows it"));
  std::string wrong = kGzip;
  wrong[19] ^= 1;  // of its checksum
  EXPECT_THAT(decoded(Coding::kGzip, wrong), HasSubstr("it is not"));
}

TEST(ContentCoding, a_body_that_grows_too_much_is_refused_before_it_does) {
  const std::string bomb = gzip(std::string(8 << 20, 'a'));
  EXPECT_LT(bomb.size(), 64u << 10);
  std::string plain;
  const std::optional<HttpError> error = decode(Coding::kGzip, bomb, 1 << 20, &plain);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status, 413);
  EXPECT_LE(plain.capacity(), size_t{4} << 20);
  std::string many;  // frames that are small each
  for (int i = 0; i < 9; ++i) many += gzip(std::string(128 << 10, 'b'));
  EXPECT_THAT(decoded(Coding::kGzip, many), HasSubstr("413 "));
  EXPECT_EQ(decoded(Coding::kGzip, gzip(std::string(1 << 20, 'c'))).size(), size_t{1} << 20);
}

TEST(ContentCoding, a_requests_body_is_unpacked_once) {
  const auto body_of = [](Headers headers, std::string body) {
    Request request{.headers = std::move(headers), .body = std::move(body)};
    const std::optional<HttpError> error = decode_body(&request, 1 << 20);
    return error ? std::to_string(error->status) : request.body;
  };
  EXPECT_EQ(body_of({}, "plain"), "plain");
  EXPECT_EQ(body_of({{"content-encoding", "identity"}}, "plain"), "plain");
  EXPECT_EQ(body_of({{"Content-Encoding", "GZIP"}}, kGzip), kHello);
  EXPECT_EQ(body_of({{"Content-Encoding", "x-gzip"}}, kGzip), kHello);
  EXPECT_EQ(body_of({{"Content-Encoding", "deflate"}}, kZlib), kHello);
  EXPECT_EQ(body_of({{"Content-Encoding", "br"}}, "x"), "415");
  EXPECT_EQ(body_of({{"Content-Encoding", "gzip, gzip"}}, gzip(kGzip)), "415");
  EXPECT_EQ(body_of({{"Content-Encoding", "gzip"}, {"Content-Encoding", "gzip"}}, gzip(kGzip)), "415");
  EXPECT_EQ(body_of({{"Content-Encoding", "gzip"}}, "{}"), "400");
}

TEST(ContentCoding, a_few_bytes_are_not_unpacked_to_as_many_as_a_body_may_have) {
  Request request{.headers = {{"Content-Encoding", "gzip"}}, .body = gzip(std::string(size_t{80} << 20, 'a'))};
  const std::optional<HttpError> error = decode_body(&request, int64_t{1} << 30);
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status, 413);
  EXPECT_THAT(error->message, HasSubstr("longer than 67108864 bytes"));
}

TEST(ContentCoding, knows_who_accepts_gzip) {
  for (const char* yes : {"gzip", "deflate, gzip", "GZip;q=0.5", "br;q=1.0, gzip;q=0.8, *;q=0.1", "*", "x-gzip"})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  for (const char* no : {"", "identity", "deflate, br", "gzip;q=0", "*, gzip;q=0.0", "*;q=0", "gzipped"})
    EXPECT_FALSE(accepts_gzip(no)) << no;
}

}  // namespace
}  // namespace nereid::server::net
