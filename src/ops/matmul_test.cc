// SPDX-License-Identifier: Apache-2.0
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

TEST(Matmul, rows_meet_columns) {
  EXPECT_THAT(numbers_of("matmul", {f32({2, 2}, {1, 2, 3, 4}), f32({2, 1}, {10, 1})}), near({12, 34}, 0));
}

TEST(Matmul, leading_dimensions_broadcast) {
  const Tensor y = run_op("matmul", {f32({2, 1, 1, 2}, {1, 2, 3, 4}), f32({3, 2, 1}, {1, 0, 0, 1, 1, 1})})[0];
  EXPECT_EQ(y.sizes, (std::vector<int64_t>{2, 3, 1, 1}));
  EXPECT_THAT(y.numbers(), near({1, 2, 3, 3, 4, 7}, 0));
}

TEST(Matmul, nothing_to_sum_gives_zeros) {
  EXPECT_THAT(numbers_of("matmul", {f32({1, 0}, {}), f32({0, 2}, {})}), near({0, 0}, 0));
}

TEST(Matmul, depths_and_batches_must_agree) {
  EXPECT_EQ(refusal("matmul", {f32({1, 2}, {1, 2}), f32({1, 2}, {1, 2})}),
            "dimension 1 of a f32[1, 2] is 2, but dimension 0 of b f32[1, 2] is 1");
  EXPECT_EQ(refusal("matmul", {f32({2, 1, 1}, {1, 2}), f32({3, 1, 1}, {1, 2, 3})}),
            "the leading dimensions of a f32[2, 1, 1] and b f32[3, 1, 1] do not broadcast");
}

TEST(Matmul, vectors_are_rows_on_the_left_and_columns_on_the_right) {
  const Tensor v = f32({2}, {1, 10});
  const Tensor m = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_op("matmul", {v, v})[0].sizes, std::vector<int64_t>{});
  EXPECT_THAT(numbers_of("matmul", {v, v}), testing::ElementsAre(101));
  EXPECT_THAT(numbers_of("matmul", {v, m}), testing::ElementsAre(31, 42));
  EXPECT_THAT(numbers_of("matmul", {m, v}), testing::ElementsAre(21, 43));
  const Tensor batch = f32({2, 1, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_op("matmul", {batch, v})[0].sizes, (std::vector<int64_t>{2, 1}));
  EXPECT_THAT(numbers_of("matmul", {batch, v}), testing::ElementsAre(21, 43));
}

TEST(Matmul, integers_and_doubles) {
  EXPECT_THAT(numbers_of("matmul", {i32({1, 2}, {3, 4}), i32({2, 1}, {5, 6})}), testing::ElementsAre(39));
  const Tensor x = Tensor::of(DType::f64, {1, 1}, {1e-300});
  EXPECT_THAT(numbers_of("matmul", {x, Tensor::of(DType::f64, {1, 1}, {2})}), testing::ElementsAre(2e-300));
}

}  // namespace
}  // namespace nereid::ops
