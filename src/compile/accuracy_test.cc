// SPDX-License-Identifier: Apache-2.0
#include "compile/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graph/text.h"

namespace nereid::compile {
namespace {

// y = scale x, and where the largest of x is.
OpenedNetwork scaled(const std::string& scale) {
  graph::Graph graph = graph::parse("graph main {\n input %x: f32[3]\n const %s: f32[] = [" + scale +
                                    "]\n %y: f32[3] = mul(%x, %s)\n %i: i64[1] = arg_max(%x) {axis=0}\n"
                                    " output %y, %i\n}")
                           .value();
  OpenedNetwork out;
  out.inputs = {{"x", {DType::f32, Shape{3}}}};
  out.outputs = {{"y", {DType::f32, Shape{3}}}, {"i", {DType::i64, Shape{1}}}};
  out.network = runtime::Network::create(std::move(graph), nullptr, best_isa(read_cpu_info()).value());
  return out;
}

// Two samples: -1, 0, 1 and 0, 2, 3.
Result<NamedValues> sample(int64_t index) {
  const std::vector<double> x = index == 0 ? std::vector<double>{-1, 0, 1} : std::vector<double>{0, 2, 3};
  return NamedValues{{"x", ops::Tensor::of(DType::f32, {3}, x)}};
}

class Accuracy : public testing::Test {
 protected:
  NetworkError measure(const std::string& scale, int64_t most = 2) {
    const auto samples = AccuracySamples::create(scaled("2"), 2, sample, pool_);
    EXPECT_TRUE(samples.is_ok()) << samples.status().message();
    const auto error = samples->measure(scaled(scale), most, pool_);
    EXPECT_TRUE(error.is_ok()) << error.status().message();
    return *error;
  }
  ThreadPool pool_{{.threads = 1}};
};

TEST_F(Accuracy, errors_are_shares_of_the_range_over_all_samples) {
  const NetworkError error = measure("2.5");
  EXPECT_EQ(error.samples, 2);
  EXPECT_EQ(error.outputs[0].range, 8);               // from -2 to 6
  EXPECT_DOUBLE_EQ(error.max_error(), 1.5 / 8);       // 7.5 and not 6
  EXPECT_DOUBLE_EQ(error.mean_error(), 3.5 / 6 / 8);  // 0.5, 0, 0.5, 0, 1, 1.5
}

TEST_F(Accuracy, fewer_samples_are_seen_against_the_same_range) {
  EXPECT_DOUBLE_EQ(measure("2.5", 1).max_error(), 0.5 / 8);
}

TEST_F(Accuracy, the_same_network_has_no_error) {
  EXPECT_EQ(measure("2").max_error(), 0);
}

TEST_F(Accuracy, integers_are_counted_and_under_no_bound) {
  const NetworkError error = measure("2.5");
  EXPECT_TRUE(error.outputs[1].is_exact);
  EXPECT_EQ(error.outputs[1].unequal, 0);
  EXPECT_EQ(error.outputs[1].elements, 2);
}

TEST_F(Accuracy, outputs_that_are_no_numbers_in_f32_are_refused) {
  const auto samples = AccuracySamples::create(scaled("nan"), 2, sample, pool_);
  EXPECT_EQ(samples.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(samples.status().message().find("the output 'y' is NaN"), std::string::npos);
}

TEST_F(Accuracy, numbers_that_become_none_are_an_infinite_error) {
  EXPECT_EQ(measure("inf").max_error(), HUGE_VAL);
}

}  // namespace
}  // namespace nereid::compile
