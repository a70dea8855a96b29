// SPDX-License-Identifier: Apache-2.0
#include "compile/joined_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/text.h"

namespace nereid::compile {
namespace {

using ::testing::ElementsAre;

TEST(JoinedWeights, names_are_taken_apart_as_fusions_join_them) {
  EXPECT_THAT(names_before_joining("blk.0.attn_q+k+v.weight"),
              ElementsAre("blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"));
  EXPECT_THAT(names_before_joining("blk.0.ffn_up.weight"), ElementsAre("blk.0.ffn_up.weight"));
  EXPECT_THAT(names_before_joining("a+b"), ElementsAre("a", "b"));
  EXPECT_THAT(names_before_joining("w_q+k_norm+v.x"), ElementsAre("w_q.x", "w_k_norm.x", "w_v.x"));
}

TEST(JoinedWeights, rows_follow_the_sizes_of_the_split_behind_the_product) {
  const auto graph = graph::parse(R"(graph g {
    input %x: f32[tokens, 4]
    const %blk.0.attn_q+k+v.weight: f32[10, 4]
    const %blk.0.gate.weight: f32[8, 4]
    const %blk.0.up.weight: f32[8, 4]
    const %a+b.weight: f32[6, 4]
    %y = linear(%x, %blk.0.attn_q+k+v.weight)
    %q, %k, %v = split(%y) {sizes=[6, 2, 2]}
    %z = gated_linear(%x, %blk.0.gate.weight, %blk.0.up.weight)
    %w = linear(%x, %a+b.weight)
    output %q, %k, %v, %z, %w
  })");
  ASSERT_TRUE(graph.is_ok()) << graph.status().message();
  const auto rows = matrix_rows(*graph);
  EXPECT_EQ(rows.size(), 5u) << "joined matrices that nothing takes apart are nobody's";
  const auto expect = [&](const char* name, const char* constant, int64_t first, int64_t count) {
    const auto it = rows.find(name);
    ASSERT_NE(it, rows.end()) << name;
    EXPECT_EQ(graph->value(it->second.constant).name, constant);
    EXPECT_EQ(it->second.first, first) << name;
    EXPECT_EQ(it->second.count, count) << name;
  };
  expect("blk.0.attn_q.weight", "blk.0.attn_q+k+v.weight", 0, 6);
  expect("blk.0.attn_k.weight", "blk.0.attn_q+k+v.weight", 6, 2);
  expect("blk.0.attn_v.weight", "blk.0.attn_q+k+v.weight", 8, 2);
  expect("blk.0.gate.weight", "blk.0.gate.weight", 0, 8);
  expect("blk.0.up.weight", "blk.0.up.weight", 0, 8);
}

}  // namespace
}  // namespace nereid::compile
