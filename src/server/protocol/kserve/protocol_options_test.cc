// SPDX-License-Identifier: Apache-2.0
// Who may use which endpoints, and headers that become parameters.
#include <gmock/gmock.h>

#include "server/protocol/kserve/api_group.h"
#include "server/protocol/kserve/forwarded_headers.h"

namespace nereid::server::kserve {
namespace {

using ::testing::HasSubstr;

Result<RestrictedApis> parse(const std::vector<std::string>& texts) {
  return RestrictedApis::parse("--option", texts, "x-");
}

TEST(RestrictedApis, ask_for_the_header_of_their_group) {
  const auto apis = parse({"health,model-config:key=a=b", "trace:other=c"});
  ASSERT_TRUE(apis.is_ok()) << apis.status().message();
  ASSERT_NE(apis->header(ApiGroup::kHealth), nullptr);
  EXPECT_EQ(*apis->header(ApiGroup::kHealth), "x-key");
  EXPECT_EQ(*apis->header(ApiGroup::kModelConfig), "x-key");
  EXPECT_EQ(*apis->header(ApiGroup::kTrace), "x-other");
  EXPECT_EQ(apis->header(ApiGroup::kInference), nullptr);
  EXPECT_TRUE(apis->accepts(ApiGroup::kHealth, "a=b"));
  for (const char* wrong : {"", "a", "a=bc", "a=B", "c"})
    EXPECT_FALSE(apis->accepts(ApiGroup::kHealth, wrong)) << wrong;
  EXPECT_TRUE(apis->accepts(ApiGroup::kInference, ""));
}

TEST(RestrictedApis, refuse_what_is_not_understood) {
  for (const char* wrong :
       {"", "health", "health:key", "health:=v", "health:key=", ":key=v", "all:key=v", "health,:key=v"})
    EXPECT_FALSE(parse({wrong}).is_ok()) << wrong;
  EXPECT_THAT(parse({"all:key=v"}).status().message(), HasSubstr("there are health, metadata, inference"));
  EXPECT_THAT(parse({"health:a=b", "trace,health:c=d"}).status().message(),
              HasSubstr("'health' can not be specified in multiple config groups"));
}

TEST(ForwardedHeaders, take_the_place_of_parameters_of_their_name) {
  const auto pattern = net::NamePattern::make("^my_|priority|triton_");
  ASSERT_TRUE(pattern.is_ok());
  InferRequest request;
  request.parameters = {{"my_a", InferParameter(int64_t{1})}, {"b", InferParameter(true)}};
  ASSERT_TRUE(forward_header(*pattern, "my_a", "x", &request).is_ok());
  ASSERT_TRUE(forward_header(*pattern, "host", "y", &request).is_ok());
  ASSERT_EQ(request.parameters.size(), 2u);
  EXPECT_EQ(request.parameters[0].first, "b");
  EXPECT_EQ(request.parameters[1], (std::pair<std::string, InferParameter>("my_a", std::string("x"))));
  for (const char* reserved : {"priority", "triton_x"})
    EXPECT_EQ(forward_header(*pattern, reserved, "1", &request).code(), StatusCode::kInvalidArgument) << reserved;
  EXPECT_EQ(request.parameters.size(), 2u);
}

}  // namespace
}  // namespace nereid::server::kserve
