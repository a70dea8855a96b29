// SPDX-License-Identifier: Apache-2.0
#include "server/repository/store/s3_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/test_dir.h"

namespace nereid::server {
namespace {

using ::testing::HasSubstr;

class S3AddressTest : public ::testing::Test {
 protected:
  Environment environment() {
    return [this](const char* name) { return values_[name]; };
  }
  std::string write(const std::string& name, const std::string& text) {
    const std::string path = std::string(dir_.path()) + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  S3Address parse(const std::string& address) { return parse_s3(address, environment()).value(); }

  TestDir dir_;
  std::map<std::string, std::string> values_;
};

TEST_F(S3AddressTest, a_bucket_of_aws_is_asked_for_in_its_region) {
  const S3Address a = parse("s3://my-bucket/models/all/");
  EXPECT_EQ(a.bucket, "my-bucket");
  EXPECT_EQ(a.prefix, "models/all");
  EXPECT_EQ(a.url({.region = "eu-west-1"}) + a.path("k"), "https://s3.eu-west-1.amazonaws.com/my-bucket/k");
}

TEST_F(S3AddressTest, a_host_with_a_port_is_a_store_of_its_own) {
  const S3Address a = parse("s3://localhost:9000/my-bucket");
  EXPECT_EQ(a.url({}) + a.path(""), "http://localhost:9000/my-bucket");
  EXPECT_EQ(a.host({}), "localhost:9000");
  EXPECT_EQ(a.prefix, "");
  EXPECT_EQ(parse("s3://https://host:443/b/p").url({}), "https://host:443");
  EXPECT_EQ(parse("s3://http://host/b/p").bucket, "b");
  values_["AWS_ENDPOINT_URL"] = "https://store.example/";
  EXPECT_EQ(parse("s3://b/p").url({}), "https://store.example");
  EXPECT_EQ(parse("s3://host:1/b/p").url({}), "http://host:1") << "what is named is nearer";
}

TEST_F(S3AddressTest, what_is_no_address_is_told) {
  for (const char* bad : {"s3://", "s3:///", "s3://host:9000", "s3://b/../c", "s3://b/a?x=1", "s3://b c", "/models"})
    EXPECT_EQ(parse_s3(bad, environment()).status().code(), StatusCode::kInvalidArgument) << bad;
  EXPECT_THAT(parse_s3("s3://host:1", environment()).status().message(), HasSubstr("names no bucket"));
}

TEST_F(S3AddressTest, credentials_come_from_the_environment) {
  values_ = {{"AWS_ACCESS_KEY_ID", "id"}, {"AWS_SECRET_ACCESS_KEY", "secret"}, {"AWS_DEFAULT_REGION", "r"}};
  const S3Credentials c = find_s3_credentials(parse("s3://b/p"), environment()).value();
  EXPECT_EQ(c.key + " " + c.secret + " " + c.region + c.token, "id secret r");
}

TEST_F(S3AddressTest, a_profile_is_read_where_the_environment_is_silent) {
  values_["AWS_SHARED_CREDENTIALS_FILE"] =
      write("credentials",
            "[default]\naws_access_key_id = d\n# note\n[other]\n  aws_access_key_id=o\r\naws_secret_access_key = s\n");
  values_["AWS_CONFIG_FILE"] = write("config", "[profile other]\nregion = eu\n");
  EXPECT_EQ(find_s3_credentials(parse("s3://b"), environment()).value().key, "d");
  values_["AWS_PROFILE"] = "other";
  const S3Credentials c = find_s3_credentials(parse("s3://b"), environment()).value();
  EXPECT_EQ(c.key + " " + c.secret + " " + c.region, "o s eu");
}

TEST_F(S3AddressTest, the_longest_entry_of_tritons_file_wins) {
  values_["TRITON_CLOUD_CREDENTIAL_PATH"] = write("cloud.json", R"({"s3": {
      "": {"key_id": "all", "secret_key": "s", "region": "us"},
      "s3://one": {"key_id": "one", "secret_key": "s", "session_token": "t"},
      "s3://one/deep": {"key_id": "deep", "secret_key": "s", "profile": ""}}})");
  values_["AWS_ACCESS_KEY_ID"] = "environment";
  EXPECT_EQ(find_s3_credentials(parse("s3://two/x"), environment()).value().key, "all");
  EXPECT_EQ(find_s3_credentials(parse("s3://one/x"), environment()).value().token, "t");
  EXPECT_EQ(find_s3_credentials(parse("s3://one/deep/x"), environment()).value().key, "deep");
  values_["TRITON_CLOUD_CREDENTIAL_PATH"] = write("broken.json", "{");
  EXPECT_EQ(find_s3_credentials(parse("s3://one"), environment()).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(S3AddressTest, nothing_at_all_signs_nothing) {
  EXPECT_EQ(find_s3_credentials(parse("s3://b"), environment()).value().key, "");
}

TEST_F(S3AddressTest, other_stores_are_refused_with_a_sentence) {
  EXPECT_TRUE(is_remote_store("gs://b"));
  EXPECT_FALSE(is_remote_store("/models"));
  EXPECT_EQ(open_model_store("gs://b", environment()).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace nereid::server
