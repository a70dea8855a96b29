// SPDX-License-Identifier: Apache-2.0
// What must hold for every row of the table.
#include <algorithm>
#include <set>

#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(OpTable, names_are_in_alphabetical_order_and_found) {
  EXPECT_TRUE(std::ranges::is_sorted(op_table(), std::ranges::less(), &OpDef::name));
  for (const OpDef* op : op_table()) EXPECT_EQ(find_op(op->name), op);
  EXPECT_EQ(find_op("no_such_op"), nullptr);
}

TEST(OpTable, every_row_is_complete) {
  for (const OpDef* op : op_table()) {
    EXPECT_FALSE(op->summary.empty()) << op->name;
    EXPECT_FALSE(op->inputs.empty()) << op->name;
    EXPECT_FALSE(op->outputs.empty()) << op->name;
    EXPECT_TRUE(op->infer) << op->name;
    EXPECT_TRUE(op->evaluate || op->evaluate_any || !op->regions.empty()) << op->name;
    EXPECT_TRUE(!op->commutative || op->inputs.size() == 2) << op->name;
  }
}

TEST(OpTable, optional_arguments_follow_required_ones_and_only_the_last_is_variadic) {
  for (const OpDef* op : op_table()) {
    bool optional = false;
    for (size_t i = 0; i < op->inputs.size(); ++i) {
      EXPECT_TRUE(op->inputs[i].optional || !optional) << op->name;
      EXPECT_TRUE(!op->inputs[i].variadic || i + 1 == op->inputs.size()) << op->name;
      optional = optional || op->inputs[i].optional;
    }
  }
}

TEST(OpTable, attributes_are_unique_explained_and_their_defaults_readable) {
  for (const OpDef* op : op_table()) {
    std::set<std::string_view> names;
    for (const AttrSpec& spec : op->attrs) {
      EXPECT_TRUE(names.insert(spec.name).second) << op->name << " " << spec.name;
      EXPECT_FALSE(spec.help.empty()) << op->name << " " << spec.name;
      if (spec.fallback.empty()) continue;
      auto value = attr_from_text(spec.kind, spec.fallback);
      ASSERT_TRUE(value.is_ok()) << op->name << " " << value.status().message();
      EXPECT_EQ(attr_to_text(*value), spec.fallback) << op->name << " " << spec.name;
    }
  }
}

}  // namespace
}  // namespace nereid::ops
