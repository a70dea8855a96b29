// SPDX-License-Identifier: Apache-2.0
#include "server/net/name_pattern.h"

#include <gtest/gtest.h>

namespace nereid::server::net {
namespace {

TEST(NamePattern, is_looked_for_anywhere_in_any_case) {
  const auto pattern = NamePattern::make("^my_.*|trace");
  ASSERT_TRUE(pattern.is_ok());
  for (const char* name : {"my_header", "My_Header", "x-TRACE-id"}) EXPECT_TRUE(pattern->matches(name)) << name;
  for (const char* name : {"", "not_my_header", "host"}) EXPECT_FALSE(pattern->matches(name)) << name;
  EXPECT_FALSE(NamePattern().matches("my_header"));
}

TEST(NamePattern, tells_what_is_no_expression) {
  const auto pattern = NamePattern::make("a(b");
  ASSERT_FALSE(pattern.is_ok());
  EXPECT_NE(pattern.status().message().find("'a(b' is no regular expression"), std::string::npos);
}

TEST(NamePattern, gives_up_on_names_that_would_take_ages) {
  const auto pattern = NamePattern::make("^(a+)+$");
  ASSERT_TRUE(pattern.is_ok());
  EXPECT_FALSE(pattern->matches(std::string(8000, 'a') + "!"));
}

}  // namespace
}  // namespace nereid::server::net
