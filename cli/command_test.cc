// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <gtest/gtest.h>

#include <set>

namespace nereid::cli {
namespace {

TEST(Command, codes_of_the_contract_follow_from_errors) {
  EXPECT_EQ(exit_code(Status::ok()), 0);
  EXPECT_EQ(exit_code(internal("x")), 1);
  EXPECT_EQ(exit_code(exhausted("x")), 1);
  EXPECT_EQ(exit_code(invalid_argument("x")), 2);
  EXPECT_EQ(exit_code(not_found("x")), 2);
  EXPECT_EQ(exit_code(unsupported("x")), 2);
  EXPECT_EQ(exit_code(cancelled("x")), 130);
}

TEST(Command, a_model_that_fails_to_load_is_1_whatever_the_reason_and_ctrl_c_is_130) {
  EXPECT_EQ(fail(invalid_argument("x"), kFailed), 1);
  EXPECT_EQ(fail(cancelled("x"), kFailed), 130);
}

TEST(Command, names_are_unique_and_every_row_has_a_summary_and_a_function) {
  std::set<std::string_view> names;
  for (const Command& c : command_table()) {
    EXPECT_TRUE(names.insert(c.name).second) << c.name;
    EXPECT_FALSE(c.summary.empty());
    EXPECT_NE(c.run, nullptr);
  }
}

}  // namespace
}  // namespace nereid::cli
