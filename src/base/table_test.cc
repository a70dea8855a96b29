// SPDX-License-Identifier: Apache-2.0
#include "base/table.h"

#include <gtest/gtest.h>

namespace nereid {
namespace {

TEST(Table, columns_are_aligned_and_the_rule_says_how) {
  Table table({{"model"}, {"t/s", Table::Align::right}});
  table.add_row({"smol", "9.5"});
  table.add_row({"a longer name", "123.25"});
  table.add_row({});
  EXPECT_EQ(table.markdown(),
            "| model         |    t/s |\n"
            "| ------------- | -----: |\n"
            "| smol          |    9.5 |\n"
            "| a longer name | 123.25 |\n"
            "|               |        |\n");
}

TEST(Table, cells_cannot_break_the_table_and_count_characters_not_bytes) {
  Table table({{"x"}, {"µs"}});
  table.add_row({"a|b\nc", "±1"});
  EXPECT_EQ(table.markdown(),
            "| x      | µs  |\n"
            "| ------ | --- |\n"
            "| a\\|b c | ±1  |\n");
}

}  // namespace
}  // namespace nereid
