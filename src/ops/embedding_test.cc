// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

const Tensor kWords = f32({3, 2}, {1, 2, 3, 4, 5, 6});

TEST(Embedding, each_id_gives_its_row) {
  EXPECT_THAT(numbers_of("embedding", {i32({3}, {2, 0, 2}), kWords}), near({5, 6, 1, 2, 5, 6}, 0));
}

TEST(Embedding, rows_of_block_formats_are_decoded) {
  std::vector<double> row(64, 0);
  row[32] = 127;  // q8_0 holds the largest of a block of 32 exactly
  const Tensor table = Tensor::of(DType::q8_0, {1, 64}, row);
  EXPECT_THAT(numbers_of("embedding", {i32({1}, {0}), table}), near(row, 0.05));
}

TEST(Embedding, an_id_outside_the_table_is_named) {
  EXPECT_EQ(refusal("embedding", {i32({2}, {0, 3}), kWords}), "ids[1] is 3, but the table has 3 rows");
  EXPECT_EQ(refusal("embedding", {i32({1}, {-1}), kWords}), "ids[0] is -1, but the table has 3 rows");
}

TEST(Embedding, ids_must_be_integers_and_the_table_a_matrix) {
  EXPECT_EQ(refusal("embedding", {f32({1}, {0}), kWords}), "ids f32[1] should be i32 or i64");
  EXPECT_EQ(refusal("embedding", {i32({1}, {0}), f32({2}, {1, 2})}), "table f32[2] should have 2 dimensions");
}

}  // namespace
}  // namespace nereid::ops
