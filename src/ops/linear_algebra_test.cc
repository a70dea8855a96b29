// SPDX-License-Identifier: Apache-2.0
// gemm, einsum and det; matmul has its own file.
#include "ops/einsum_equation.h"
#include "ops/op_fixture.h"

namespace nereid::ops {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Ints = std::vector<int64_t>;

const Tensor kA = f32({2, 3}, {1, 2, 3, 4, 5, 6});
const Tensor kB = f32({3, 2}, {1, 0, 0, 1, 1, 1});

TEST(Gemm, a_product_plus_what_broadcasts) {
  EXPECT_THAT(numbers_of("gemm", {kA, kB}), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(numbers_of("gemm", {kA, kB, f32({2}, {10, 20})}), ElementsAre(14, 25, 20, 31));
  EXPECT_THAT(numbers_of("gemm", {kA, kB, f32({2, 1}, {10, 20})}), ElementsAre(14, 15, 30, 31));
  EXPECT_THAT(numbers_of("gemm", {kA, kB, f32({}, {1})}, {{"alpha", 0.5}, {"beta", 2.0}}), ElementsAre(4, 4.5, 7, 7.5));
}

TEST(Gemm, either_side_transposed) {
  const Tensor at = f32({3, 2}, {1, 4, 2, 5, 3, 6});
  const Tensor bt = f32({2, 3}, {1, 0, 1, 0, 1, 1});
  EXPECT_THAT(numbers_of("gemm", {at, bt}, {{"transA", true}, {"transB", true}}), ElementsAre(4, 5, 10, 11));
}

TEST(Gemm, integers_are_exact) {
  const Tensor big = Tensor::of(DType::i64, {1, 1}, {0x1p53});
  const Tensor one = Tensor::of(DType::i64, {1, 1}, {1});
  const Tensor y = run_op("gemm", {big, one, one})[0];
  EXPECT_EQ(y.dtype, DType::i64);
  EXPECT_EQ(*y.view().as<const int64_t>(), (int64_t{1} << 53) + 1);
}

TEST(Gemm, refuses_what_does_not_fit) {
  EXPECT_EQ(refusal("gemm", {kA, kA}), "dimension 1 of a f32[2, 3] is 3, but dimension 0 of b f32[2, 3] is 2");
  EXPECT_EQ(refusal("gemm", {kA, kB, f32({3}, {1, 2, 3})}), "c f32[3] does not broadcast to [2, 2]");
  EXPECT_EQ(refusal("gemm", {kA, f32({3}, {1, 2, 3})}), "b f32[3] should have 2 dimensions");
  EXPECT_THAT(refusal("gemm", {kA, i32({3, 1}, {1, 2, 3})}), HasSubstr("one element type"));
}

Attrs equation(const char* text) {
  return {{"equation", std::string(text)}};
}

TEST(Einsum, products_sums_and_transposes) {
  EXPECT_THAT(numbers_of("einsum", {kA, kB}, equation("ij,jk->ik")), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(numbers_of("einsum", {kA, kB}, equation("ij,jk")), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(numbers_of("einsum", {kA}, equation("ij->ji")), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(numbers_of("einsum", {kA}, equation(" i j -> ")), ElementsAre(21));
  EXPECT_THAT(numbers_of("einsum", {kA, kB, f32({2}, {1, 10})}, equation("ij,jk,k->i")), ElementsAre(54, 120));
}

TEST(Einsum, repeated_labels_walk_the_diagonal) {
  const Tensor square = f32({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(numbers_of("einsum", {square}, equation("ii->i")), ElementsAre(1, 4));
  EXPECT_THAT(numbers_of("einsum", {square}, equation("ii")), ElementsAre(5));
}

TEST(Einsum, an_ellipsis_broadcasts) {
  const Tensor batch = f32({2, 1, 2}, {1, 2, 3, 4});
  EXPECT_THAT(numbers_of("einsum", {batch, f32({2}, {1, 10})}, equation("...i,i->...")), ElementsAre(21, 43));
  const Tensor y = run_op("einsum", {f32({2, 1, 1}, {1, 2}), f32({3, 1}, {1, 2, 3})}, equation("...i,...i"))[0];
  EXPECT_EQ(y.sizes, (Ints{2, 3}));
  EXPECT_THAT(y.numbers(), ElementsAre(1, 2, 3, 2, 4, 6));
}

TEST(Einsum, refuses_equations_that_make_no_sense) {
  EXPECT_THAT(refusal("einsum", {kA}, equation("ij,jk")), HasSubstr("one term for each of 1 operands"));
  EXPECT_THAT(refusal("einsum", {kA, kB}, equation("ij")), HasSubstr("one term for each of 2 operands"));
  EXPECT_EQ(refusal("einsum", {kA}, equation("i")), "the term 'i' has 1 labels for 2 dimensions");
  EXPECT_THAT(refusal("einsum", {kA}, equation("i1")), HasSubstr("labels are letters"));
  EXPECT_THAT(refusal("einsum", {kA}, equation("ij->ik")), HasSubstr("is in no operand"));
  EXPECT_THAT(refusal("einsum", {kA}, equation("ij->ii")), HasSubstr("names a label twice"));
  EXPECT_THAT(refusal("einsum", {kA, kA}, equation("ij,jk")), HasSubstr("is 3 elsewhere"));
}

TEST(Einsum, sizes_stay_symbols) {
  const TensorType a{DType::f32, {symbol("n"), Dim(3)}};
  const TensorType b{DType::f32, {Dim(3), symbol("m")}};
  EXPECT_EQ((*infer_types("einsum", {a, b}, equation("ij,jk->ki")))[0].to_string(), "f32[m, n]");
}

TEST(Det, of_each_matrix) {
  EXPECT_THAT(numbers_of("det", {f32({2, 2}, {0, 1, 2, 3})}), near({-2}));
  EXPECT_THAT(numbers_of("det", {f32({2, 2, 2}, {1, 2, 2, 4, 3, 0, 0, 2})}), near({0, 6}));
  EXPECT_THAT(numbers_of("det", {f32({0, 0}, {})}), ElementsAre(1));
  EXPECT_THAT(refusal("det", {kA}), HasSubstr("dimension 1 of x f32[2, 3] is 3"));
}

TEST(Inverse, of_each_matrix) {
  EXPECT_THAT(numbers_of("inverse", {f32({2, 2}, {0, 2, 4, 0})}), near({0, 0.25, 0.5, 0}));
  EXPECT_THAT(numbers_of("inverse", {f32({2, 1, 1}, {4, 5})}), near({0.25, 0.2}));
  EXPECT_THAT(refusal("inverse", {f32({2, 2}, {1, 2, 2, 4})}), HasSubstr("matrix 0 of x has no inverse"));
  EXPECT_THAT(refusal("inverse", {kA}), HasSubstr("dimension 1 of x f32[2, 3] is 3"));
}

}  // namespace
}  // namespace nereid::ops
