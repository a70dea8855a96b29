// SPDX-License-Identifier: Apache-2.0
// How networks are told from other files, what sizes open inputs get, and what is made of measured times.
#include "compile/network_session.h"

#include <gtest/gtest.h>

#include "compile/bench_network.h"
#include "compile/model_kind.h"

namespace nereid::compile {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(ModelKind, the_fields_of_a_model_are_known_by_number_and_form) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(looks_like_onnx(bytes("\x08\x08\x12\x07pytorch\x3a\xff\x7f"sv)));  // the graph goes on beyond the head
  EXPECT_TRUE(looks_like_onnx(bytes("\x08\x0a\x42\x02\x10\x0d"sv)));
  EXPECT_FALSE(looks_like_onnx(bytes(""sv)));
  EXPECT_FALSE(looks_like_onnx(bytes("GGUF\x03\x00\x00\x00"sv)));
  EXPECT_FALSE(looks_like_onnx(bytes("{\"a\": 1}"sv)));
  EXPECT_FALSE(looks_like_onnx(bytes("\x08\x08\x7f\x01"sv)));  // a field that no model has
}

TEST(Shapes, open_sizes_follow_the_sizes_of_the_same_name_and_are_1_else) {
  const auto b = Dim::symbol("batch"), s = Dim::symbol("seq");
  const std::vector<InputType> inputs = {{"ids", {DType::i64, Shape({b, s})}},
                                         {"mask", {DType::i64, Shape({b, s})}},
                                         {"state", {DType::f32, Shape({2, b, Dim::symbol("width")})}},
                                         {"rate", {DType::i64, Shape()}}};
  std::vector<std::string> remarks;
  const InputShapes shapes = complete_shapes(inputs, {{"ids", {4, 128}}}, remarks);
  EXPECT_EQ(shapes.at("ids"), (std::vector<int64_t>{4, 128}));
  EXPECT_EQ(shapes.at("mask"), (std::vector<int64_t>{4, 128}));
  EXPECT_EQ(shapes.at("state"), (std::vector<int64_t>{2, 4, 1}));
  EXPECT_EQ(shapes.at("rate"), std::vector<int64_t>{});
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks[0].find("'state'"), std::string::npos) << remarks[0];
}

TEST(Latencies, percentiles_are_values_that_were_measured) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Latencies l = summarize(values);
  EXPECT_EQ(l.min, 1);
  EXPECT_EQ(l.max, 100);
  EXPECT_EQ(l.median, 50.5);
  EXPECT_EQ(l.mean, 50.5);
  EXPECT_EQ(l.p90, 90);
  EXPECT_EQ(l.p99, 99);
  std::vector<double> one = {3};
  EXPECT_EQ(percentile(one, 99), 3);
  EXPECT_EQ(summarize({}).max, 0);
}

TEST(NetworkSession, a_precision_is_one_that_networks_run_in) {
  EXPECT_EQ(precision_name(precision_from_name("f32").value()), "f32");
  EXPECT_EQ(precision_name(precision_from_name("bf16").value()), "bf16");
  EXPECT_EQ(precision_from_name("int8").status().message(),
            "there is no precision 'int8' here; networks run in f32 or bf16");
}

}  // namespace
}  // namespace nereid::compile
