// SPDX-License-Identifier: Apache-2.0
#include "llm/run/kv_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::llm {
namespace {

using ::testing::HasSubstr;

TEST(KvTypes, one_name_is_for_all_layers) {
  const KvTypes types = KvTypes::parse("int8").value();
  EXPECT_EQ(types.of(0), DType::i8);
  EXPECT_EQ(types.of(1000), DType::i8);
  EXPECT_EQ(KvTypes::parse("fp8").value().of(3), DType::f8e4m3);
}

TEST(KvTypes, auto_and_nothing_leave_the_engines_types) {
  for (const char* text : {"", "auto"}) {
    EXPECT_TRUE(KvTypes::parse(text).value().is_auto());
    EXPECT_EQ(KvTypes::parse(text).value().of(0), std::nullopt);
  }
}

TEST(KvTypes, ranges_of_layers_differ_and_the_later_wins) {
  const KvTypes types = KvTypes::parse("int8,0-1=f16,29=bf16,1=f32").value();
  EXPECT_EQ(types.of(0), DType::f16);
  EXPECT_EQ(types.of(1), DType::f32);
  EXPECT_EQ(types.of(2), DType::i8);
  EXPECT_EQ(types.of(29), DType::bf16);
  const KvTypes one = KvTypes::parse("3=int8").value();
  EXPECT_EQ(one.of(3), DType::i8);
  EXPECT_EQ(one.of(2), std::nullopt);
}

TEST(KvTypes, what_is_not_understood_is_refused_with_what_was_found) {
  for (const char* text : {"int4", "f16,int8", "int8,x=f16", "int8,3-1=f16", "int8,-1=f16", "int8,1-=f16", ",",
                           "int8,1=q", "int8,99999999999999999999=f16"}) {
    EXPECT_EQ(KvTypes::parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
  EXPECT_THAT(KvTypes::parse("q8_0").status().message(), HasSubstr("expected auto, f32, f16, bf16, fp8 or int8"));
}

}  // namespace
}  // namespace nereid::llm
