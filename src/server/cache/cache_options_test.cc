// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cache_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::server {
namespace {

using testing::HasSubstr;

TEST(CacheOptions, places_and_their_settings_are_read) {
  const auto local = parse_cache_options({"local,size=1048576"});
  ASSERT_TRUE(local.is_ok()) << local.status().message();
  EXPECT_EQ(local->place, "local");
  EXPECT_EQ(local->local_bytes, 1048576u);
  const auto redis = parse_cache_options({"redis,host=h", "redis,port=1234,pool_size=3", "redis,wait_timeout=50"});
  ASSERT_TRUE(redis.is_ok()) << redis.status().message();
  EXPECT_EQ(redis->redis.host, "h");
  EXPECT_EQ(redis->redis.port, 1234);
  EXPECT_EQ(redis->redis.pool_size, 3);
  EXPECT_EQ(redis->redis.wait_timeout_ms, 50);
  EXPECT_TRUE(parse_cache_options({})->place.empty());
}

TEST(CacheOptions, what_is_wrong_is_told) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"disk,size=1"}, "there is no cache 'disk'"},
      {{"local"}, "needs its size"},
      {{"local,size=-1"}, "'-1'"},
      {{"local,size=1k"}, "'1k'"},
      {{"local,bytes=1"}, "no setting 'bytes'"},
      {{"local,size"}, "is no setting"},
      {{"local,size=1", "redis,host=h"}, "a server has one cache"},
      {{"redis,port=1"}, "needs its host"},
      {{"redis,host=h,port=70000"}, "'70000'"},
      {{"redis,host=h,tls_enabled=true"}, "TLS"},
  };
  for (const auto& [texts, part] : wrong) {
    const auto parsed = parse_cache_options(texts);
    ASSERT_FALSE(parsed.is_ok()) << texts[0];
    EXPECT_THAT(parsed.status().message(), HasSubstr(part));
    EXPECT_THAT(parsed.status().message(), HasSubstr("--cache-config"));
  }
}

}  // namespace
}  // namespace nereid::server
