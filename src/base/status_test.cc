// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

Result<int> half(int x) {
  if (x % 2) return invalid_argument("expected an even number, found {}", x);
  return x / 2;
}

Result<int> quarter(int x) {
  NEREID_TRY(int h, half(x).with("halving"));
  return half(h);
}

TEST(Status, an_error_carries_its_context_outermost_first) {
  Result<int> r = quarter(3).with("quartering");
  ASSERT_FALSE(r.is_ok());
  EXPECT_EQ(r.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(r.status().message(), "quartering: halving: expected an even number, found 3");
}

TEST(Status, a_value_passes_through_try) {
  EXPECT_EQ(quarter(8).value(), 2);
}

TEST(Status, adding_context_to_ok_changes_nothing) {
  EXPECT_TRUE(Status::ok().with("x").is_ok());
}

}  // namespace
}  // namespace nereid
