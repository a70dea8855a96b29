// SPDX-License-Identifier: Apache-2.0
// Reductions, linear algebra, normalisations, recurrent layers and attention: their old forms, and those of
// com.microsoft.
#include <cmath>

#include "import/onnx/node_fixture.h"

namespace nereid::import::onnx {
namespace {

using Attrs = std::vector<std::pair<std::string, ops::AttrValue>>;
using Inputs = std::vector<std::optional<ops::Tensor>>;
using Ints = std::vector<int64_t>;
using testing::HasSubstr;

ops::Tensor i64(Ints sizes, const std::vector<double>& values) {
  return tensor_of(DType::i64, std::move(sizes), values);
}
std::vector<double> run(const char* op, int64_t version, Inputs inputs, Attrs attrs = {}) {
  return numbers_of({.op = op, .version = version, .inputs = std::move(inputs), .attrs = std::move(attrs)});
}
std::vector<double> run_microsoft(const char* op, Inputs inputs, Attrs attrs = {}) {
  return numbers_of(
      {.op = op, .version = 1, .inputs = std::move(inputs), .attrs = std::move(attrs), .domain = "com.microsoft"});
}

const ops::Tensor kX = f32({2, 2}, {1, 2, 3, 4});

TEST(Reduce, axes_are_an_attribute_or_an_input) {
  EXPECT_THAT(run("ReduceSum", 11, {kX}, {{"axes", Ints{1}}}), near({3, 7}));
  EXPECT_THAT(run("ReduceSum", 13, {kX, i64({1}, {1})}), near({3, 7}));
  EXPECT_THAT(run("ReduceMax", 13, {kX}, {{"axes", Ints{0}}}), near({3, 4}));
  EXPECT_THAT(run("ReduceMax", 18, {kX}, {{"noop_with_empty_axes", int64_t{1}}}), near({1, 2, 3, 4}));
}

TEST(Softmax, goes_over_all_dimensions_from_the_axis_on_before_opset_13) {
  const ops::Tensor x = f32({1, 2, 2}, {0, 0, 0, 0});
  EXPECT_THAT(run("Softmax", 11, {x}), near({0.25, 0.25, 0.25, 0.25}));
  EXPECT_THAT(run("Softmax", 13, {x}), near({0.5, 0.5, 0.5, 0.5}));
  EXPECT_THAT(run("Hardmax", 1, {x}), near({1, 0, 0, 0}));
}

TEST(TopK, k_is_an_attribute_or_an_input) {
  EXPECT_THAT(run("TopK", 1, {kX}, {{"k", int64_t{1}}}), near({2, 4}));
  EXPECT_THAT(run("TopK", 11, {kX, i64({1}, {1})}, {{"largest", int64_t{0}}}), near({1, 3}));
}

TEST(Gemm, what_says_that_c_broadcasts_is_not_needed) {
  EXPECT_THAT(run("Gemm", 6, {kX, kX, f32({2}, {1, 0})}, {{"broadcast", int64_t{1}}}), near({8, 10, 16, 22}));
}

TEST(BatchNormalization, features_may_have_statistics_before_opset_9) {
  const ops::Tensor x = f32({2, 1, 2}, {1, 2, 3, 4});
  const ops::Tensor one = f32({1, 2}, {1, 1}), zero = f32({1, 2}, {0, 0}), mean = f32({1, 2}, {1, 2});
  EXPECT_THAT(run("BatchNormalization", 7, {x, one, zero, mean, one}, {{"spatial", int64_t{0}}, {"epsilon", 0.0}}),
              near({0, 0, 2, 2}));
}

TEST(Dropout, is_nothing_outside_of_training) {
  EXPECT_THAT(run("Dropout", 6, {kX}, {{"is_test", int64_t{1}}, {"ratio", 0.5}}), near({1, 2, 3, 4}));
  EXPECT_THAT(run("Dropout", 13, {kX, f32({}, {0.5})}), near({1, 2, 3, 4}));
}

TEST(Dft, the_axis_is_an_attribute_or_an_input) {
  const ops::Tensor x = f32({1, 2, 1}, {1, 2});
  EXPECT_THAT(run("DFT", 17, {x}, {{"axis", int64_t{1}}}), near({3, 0, -1, 0}));
  EXPECT_THAT(run("DFT", 20, {x, std::nullopt, i64({}, {1})}), near({3, 0, -1, 0}));
}

TEST(SkipLayerNormalization, adds_before_it_normalises) {
  const ops::Tensor x = f32({1, 1, 2}, {1, 2}), skip = f32({1, 1, 2}, {0, 1}), one = f32({2}, {1, 1});
  EXPECT_THAT(run_microsoft("SkipLayerNormalization", {x, skip, one}), near({-1, 1}));
  EXPECT_THAT(run_microsoft("SkipSimplifiedLayerNormalization", {x, skip, one, f32({2}, {0, -2})}), near({1, 1}));
}

TEST(EmbedLayerNormalization, adds_words_and_places) {
  const ops::Tensor words = tensor_of(DType::i32, {1, 2}, {1, 0});
  const ops::Tensor table = f32({2, 2}, {0, 1, 0, 3}), one = f32({2}, {1, 1}), zero = f32({2}, {0, 0});
  EXPECT_THAT(run_microsoft("EmbedLayerNormalization",
                            {words, std::nullopt, table, f32({2, 2}, {0, 0, 5, 0}), std::nullopt, one, zero}),
              near({-1, 1, 1, -1}));
}

// Queries and keys of zeros see everything equally.
TEST(MultiHeadAttention, hides_keys_and_adds_biases) {
  const ops::Tensor zeros = f32({1, 3, 1}, {0, 0, 0}), values = f32({1, 3, 1}, {1, 2, 6});
  const Attrs one_head{{"num_heads", int64_t{1}}};
  EXPECT_THAT(run_microsoft("MultiHeadAttention", {zeros, zeros, values}, one_head), near({3, 3, 3}));
  EXPECT_THAT(run_microsoft("MultiHeadAttention", {zeros, zeros, values, f32({3}, {0, 0, 1})}, one_head),
              near({4, 4, 4}));
  for (const ops::Tensor& keys : {tensor_of(DType::i32, {1, 3}, {1, 1, 0}), tensor_of(DType::i32, {1}, {2})})
    EXPECT_THAT(run_microsoft("MultiHeadAttention", {zeros, zeros, values, std::nullopt, keys}, one_head),
                near({1.5, 1.5, 1.5}));
}

TEST(GroupQueryAttention, writes_into_a_cache_that_is_longer) {
  const ops::Tensor zero = f32({1, 1, 1}, {0}), cache = f32({1, 1, 4, 1}, {1, 2, 100, 100});
  const ops::Tensor last = tensor_of(DType::i32, {1}, {2}), total = tensor_of(DType::i32, {}, {3});
  const Attrs heads{{"num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}};
  EXPECT_THAT(
      run_microsoft("GroupQueryAttention",
                    {zero, zero, f32({1, 1, 1}, {6}), f32({1, 1, 4, 1}, {0, 0, 9, 9}), cache, last, total}, heads),
      near({3}));
}

TEST(Gradient, is_refused_with_what_to_do) {
  EXPECT_THAT(refusal({.op = "Gradient", .version = 1, .inputs = {kX}, .domain = "ai.onnx.preview.training"}),
              HasSubstr("derivatives of a graph are not taken here"));
}

TEST(CDist, of_each_row_to_each) {
  OneNode node{.op = "CDist",
               .version = 1,
               .inputs = {f32({1, 2}, {0, 0}), f32({3, 2}, {0, 0, 3, 4, -6, 8})},
               .domain = "com.microsoft"};
  EXPECT_THAT(numbers_of(node), near({0, 25, 100}));
  node.attrs = {{"metric", std::string("euclidean")}};
  EXPECT_THAT(numbers_of(node), near({0, 5, 10}));
  node.attrs = {{"metric", std::string("cosine")}};
  EXPECT_THAT(refusal(node), testing::HasSubstr("'cosine' is none of sqeuclidean and euclidean"));
}

}  // namespace
}  // namespace nereid::import::onnx
