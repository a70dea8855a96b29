// SPDX-License-Identifier: Apache-2.0
// Values kept in bf16 between layers: that they are, and that readers which round anyway give the same bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "graph/text.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

struct Ran {
  std::vector<float> y;  // of the last output
  int64_t bytes = 0;     // between the layers
};

std::vector<float> waves(size_t n, float step) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = std::sin(step * static_cast<float>(i % 997) + 0.1F);
  return v;
}

Ran run(const std::string& text) {
  const auto weights = std::make_shared<std::vector<float>>(waves(64 * 64 * 9, 0.7F));
  for (float& w : *weights) w *= 0.1F;
  const auto source = [&](const std::string&, const ops::TensorType&) -> Result<const void*> {
    return static_cast<const void*>(weights->data());
  };
  graph::Graph graph = graph::parse(text, source).value();
  ThreadPool pool({.threads = 2});
  const auto network =
      Network::create(std::move(graph), weights, best_isa(read_cpu_info()).value(), NetPrecision::kF32);
  const auto context = NetContext::create(network, pool);
  ops::Tensor x =
      ops::Tensor::zeros(DType::f32, network->graph().value(network->graph().inputs()[0]).type.shape.sizes()).value();
  const std::vector<float> values = waves(static_cast<size_t>(x.view().elements()), 0.3F);
  std::memcpy(x.view().data, values.data(), values.size() * 4);
  EXPECT_TRUE(context->set_input(0, std::as_const(x).view()).is_ok());
  const Status status = context->run();
  EXPECT_TRUE(status.is_ok()) << status.message();
  EXPECT_TRUE(context->notes().empty()) << context->notes().front();
  const ConstTensorView y = context->output(network->graph().outputs().size() - 1);
  EXPECT_EQ(y.dtype, DType::f32);
  const auto* data = static_cast<const float*>(y.data);
  return {std::vector<float>(data, data + y.elements()), context->memory_bytes()};
}

// Two layers with something between them; the first's result leaves the network too if `kept`, and is f32 then.
std::string chain(const std::string& between, const std::string& last, bool kept, const std::string& precision) {
  return "graph main {\n input %x: f32[1, 12, 12, 32]\n const %w: f32[32, 32, 3, 3]\n const %v: f32[16, 32, 3, 3]\n"
         " %a = conv_last(%x, %w) {precision=" +
         precision + ", pads=[1, 1, 1, 1]}\n" + between + " %y = conv_last(" + last + ", %v) {precision=" + precision +
         ", pads=[1, 1, 1, 1]}\n" + (kept ? " output %a\n" : "") + " output %y\n}";
}

TEST(Storage, a_value_between_layers_of_bf16_takes_half_the_memory_and_gives_the_same_bits) {
  const Ran low = run(chain("", "%a", false, "bf16")), kept = run(chain("", "%a", true, "bf16"));
  EXPECT_EQ(low.y, kept.y);
  EXPECT_LE(low.bytes + 12 * 12 * 32 * 2, kept.bytes);
}

TEST(Storage, pooling_and_joining_keep_it) {
  const std::string pool = " %p = pool_last(%a) {kind=max, kernel_shape=[3, 3], pads=[1, 1, 1, 1]}\n";
  EXPECT_EQ(run(chain(pool, "%p", false, "bf16")).y, run(chain(pool, "%p", true, "bf16")).y);
}

TEST(Storage, a_residual_in_it_is_as_near_as_bf16_allows) {
  const auto text = [](const std::string& precision) {
    return "graph main {\n input %x: f32[1, 12, 12, 32]\n const %w: f32[32, 32, 3, 3]\n"
           " %a = conv_last(%x, %w) {precision=" +
           precision +
           ", pads=[1, 1, 1, 1]}\n"
           " %b = conv_last(%a, %w) {precision=" +
           precision +
           ", pads=[1, 1, 1, 1], activation=relu}\n"
           " %c = conv_last(%b, %w, _, %a) {precision=" +
           precision +
           ", pads=[1, 1, 1, 1], activation=relu}\n"
           " %p = global_pool_last(%c) {kind=average}\n"
           " output %p\n}";
  };
  const std::vector<float> low = run(text("bf16")).y, exact = run(text("f32")).y;
  ASSERT_EQ(low.size(), exact.size());
  const float most = *std::max_element(exact.begin(), exact.end());
  for (size_t i = 0; i < low.size(); ++i) EXPECT_NEAR(low[i], exact[i], 0.02F * most);
}

}  // namespace
}  // namespace nereid::runtime
