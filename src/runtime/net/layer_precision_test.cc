// SPDX-License-Identifier: Apache-2.0
// What a layer says of its precision, against what the network says.
#include <gtest/gtest.h>

#include "graph/text.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

// The kernel of the one layer.
std::string kernel_of(const std::string& attributes, NetPrecision precision, bool conv = false) {
  const std::string dense = "input %x: f32[64, 32]\n const %w: f32[32, 16]\n %y = dense(%x, %w) {" + attributes + "}\n";
  const std::string image =
      "input %x: f32[1, 16, 16, 32]\n const %w: f32[16, 32, 3, 3]\n %y = conv_last(%x, %w) {" + attributes + "}\n";
  const auto weights = std::make_shared<std::vector<float>>(16 * 32 * 9, 0.5F);
  const auto source = [&](const std::string&, const ops::TensorType&) -> Result<const void*> {
    return static_cast<const void*>(weights->data());
  };
  graph::Graph graph = graph::parse("graph main {\n" + (conv ? image : dense) + " output %y\n}", source).value();
  ThreadPool pool({.threads = 1});
  const auto network = Network::create(std::move(graph), weights, best_isa(read_cpu_info()).value(), precision);
  const auto context = NetContext::create(network, pool);
  const ops::Tensor x =
      ops::Tensor::zeros(DType::f32, network->graph().value(network->graph().inputs()[0]).type.shape.sizes()).value();
  EXPECT_TRUE(context->set_input(0, x.view()).is_ok());
  context->set_profiling(true);
  EXPECT_TRUE(context->run().is_ok());
  EXPECT_EQ(context->profile().size(), 1u);
  return context->profile().at(0).kernel;
}

TEST(LayerPrecision, a_layer_that_says_bf16_is_multiplied_in_it_whatever_the_network_says) {
  for (const NetPrecision precision : {NetPrecision::kF32, NetPrecision::kBF16}) {
    EXPECT_EQ(kernel_of("precision=bf16", precision), "gemm.bf16");
    EXPECT_EQ(kernel_of("precision=bf16", precision, true), "conv.bf16");
  }
}

TEST(LayerPrecision, a_layer_that_says_f32_stays_so_in_a_network_of_bf16) {
  EXPECT_EQ(kernel_of("precision=f32", NetPrecision::kBF16), "gemm");
  EXPECT_NE(kernel_of("precision=f32", NetPrecision::kBF16, true), "conv.bf16");
}

TEST(LayerPrecision, a_layer_that_says_nothing_is_f32_in_a_network_of_f32) {
  EXPECT_EQ(kernel_of("", NetPrecision::kF32), "gemm");
}

}  // namespace
}  // namespace nereid::runtime
