// SPDX-License-Identifier: Apache-2.0
#include "cli/adapter_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/test_dir.h"

namespace nereid::cli {
namespace {

using ::testing::HasSubstr;

TEST(AdapterOption, a_folder_may_have_a_scale_behind_it) {
  EXPECT_EQ(parse_adapter("a/b")->path, "a/b");
  EXPECT_EQ(parse_adapter("a/b")->scale, 1);
  EXPECT_EQ(parse_adapter("a/b:0.5")->path, "a/b");
  EXPECT_EQ(parse_adapter("a/b:0.5")->scale, 0.5);
  EXPECT_EQ(parse_adapter("a:-2")->scale, -2);
  EXPECT_EQ(parse_adapter("a:b")->path, "a:b");
  EXPECT_EQ(parse_adapter("a:")->path, "a:");
  for (const char* text : {"", ":1"}) EXPECT_THAT(parse_adapter(text).status().message(), HasSubstr("names no folder"));
  for (const char* text : {"a:inf", "a:nan"})
    EXPECT_THAT(parse_adapter(text).status().message(), HasSubstr("expected a finite number"));
}

TEST(AdapterOption, a_folder_that_exists_is_one_whatever_its_name) {
  const TestDir dir;
  const std::string odd = dir / "v:2";
  std::filesystem::create_directory(odd);
  EXPECT_EQ(parse_adapter(odd)->path, odd);
  EXPECT_EQ(parse_adapter(odd)->scale, 1);
  EXPECT_EQ(parse_adapter(odd + ":3")->path, odd);
  EXPECT_EQ(parse_adapter(odd + ":3")->scale, 3);
}

TEST(AdapterOption, a_name_stands_before_the_folder_and_a_model_before_the_name) {
  const std::string one[] = {"tiny"};
  EXPECT_EQ(parse_named_adapter("sql=a/b:2", one)->name, "sql");
  EXPECT_EQ(parse_named_adapter("sql=a/b:2", one)->model, "tiny");
  EXPECT_EQ(parse_named_adapter("sql=a/b:2", one)->source.scale, 2);
  EXPECT_EQ(parse_named_adapter("tiny:sql=a=b", one)->source.path, "a=b");
  EXPECT_EQ(parse_named_adapter("tiny:sql=a", one)->name, "sql");
  EXPECT_EQ(parse_named_adapter("my:sql=a", one)->name, "my:sql");
  const std::string two[] = {"tiny", "tiny:2"};
  EXPECT_EQ(parse_named_adapter("tiny:2:sql=a", two)->model, "tiny:2");
  EXPECT_EQ(parse_named_adapter("tiny:sql=a", two)->model, "tiny");
  EXPECT_THAT(parse_named_adapter("sql=a", two).status().message(), HasSubstr("for which model"));
  for (const char* text : {"a", "=a"})
    EXPECT_THAT(parse_named_adapter(text, one).status().message(), HasSubstr("gives no name"));
  EXPECT_THAT(parse_named_adapter("sql=", one).status().message(), HasSubstr("names no folder"));
}

}  // namespace
}  // namespace nereid::cli
