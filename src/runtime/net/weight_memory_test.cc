// SPDX-License-Identifier: Apache-2.0
// Weights that leave once they are packed, and come back when somebody else wants them.
#include "runtime/net/weight_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "graph/evaluate.h"
#include "graph/text.h"
#include "ops/elements.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

std::vector<float> ramp(int64_t n) {
  std::vector<float> v(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>(i)] = static_cast<float>((i * 37 + 11) % 101 - 50) / 64;
  return v;
}

// input x -> conv or dense layers whose weights, of 64 KiB and more, are filled in by hand.
graph::Graph graph_of(std::string_view text, const std::map<std::string, std::vector<int64_t>>& weights) {
  graph::Graph g = graph::parse(text).value();
  for (const auto& [name, sizes] : weights) {
    int64_t n = 1;
    for (int64_t s : sizes) n *= s;
    const graph::ValueId made = g.add_constant_f32(name + ".data", ramp(n), sizes);
    for (graph::ValueId id : g.constants())
      if (g.value(id).name == name) g.replace_all_uses(id, made);
  }
  return g;
}

std::vector<float> run(const std::shared_ptr<const Network>& network, ThreadPool& pool, std::vector<int64_t> sizes) {
  ops::Tensor x = ops::Tensor::zeros(DType::f32, std::move(sizes)).value();
  const std::vector<float> values = ramp(static_cast<int64_t>(x.bytes.size() / 4));
  std::memcpy(x.bytes.data(), values.data(), x.bytes.size());
  const std::unique_ptr<NetContext> context = NetContext::create(network, pool);
  const ops::Datum input(std::move(x));  // read where it lies
  EXPECT_TRUE(context->set_input(0, input).is_ok());
  EXPECT_TRUE(context->run().is_ok());
  const ops::Datum y = context->output_value(0);
  const auto span = y.view().span<float>();
  return {span.begin(), span.end()};
}

constexpr std::string_view kLayers = R"(graph main {
  input %x: f32[n, h, w, 64]
  const %a: f32[64, 64, 3, 3]
  const %b: f32[64, 512]
  const %c: f32[64, 512]
  %1: f32[n, h, w, 64] = conv_last(%x, %a) {pads=[1, 1, 1, 1]}
  %2: f32[n, h, w, 512] = dense(%1, %b)
  %3: f32[n, h, w, 64] = dense(%2, %c) {transposed=true}
  output %3
})";
const std::map<std::string, std::vector<int64_t>> kWeights = {
    {"a", {64, 64, 3, 3}}, {"b", {64, 512}}, {"c", {64, 512}}};

TEST(WeightMemory, results_are_the_same_bits_whether_weights_leave_or_not_and_at_sizes_that_choose_other_forms) {
  const Isa isa = best_isa(read_cpu_info()).value();
  const auto whole = Network::create(graph_of(kLayers, kWeights), nullptr, isa);
  const auto spare = Network::create(graph_of(kLayers, kWeights), nullptr, isa);
  spare->free_packed_weights();
  ThreadPool pool({.threads = 2});
  for (const std::vector<int64_t>& sizes :
       {std::vector<int64_t>{1, 3, 3, 64}, std::vector<int64_t>{1, 40, 40, 64}, std::vector<int64_t>{2, 5, 1, 64}})
    EXPECT_EQ(run(spare, pool, sizes), run(whole, pool, sizes));
}

TEST(WeightMemory, a_released_weight_reads_as_zeros_and_comes_back_when_it_is_wanted) {
  const graph::Graph g = graph_of(kLayers, kWeights);
  WeightMemory memory(g);
  for (graph::ValueId id : g.constants()) {
    const auto part = g.value(id).data.parts[0];
    const auto* data = static_cast<const float*>(part.data);
    const std::vector<float> before(data, data + part.elements());
    memory.release(part.data, [&](std::byte* raw) { std::memcpy(raw, before.data(), before.size() * 4); });
    EXPECT_EQ(data[before.size() / 2], 0.0f);
    memory.want(part.data);
    EXPECT_EQ(std::vector<float>(data, data + before.size()), before);
    memory.keep(part.data);
    memory.release(part.data, [](std::byte*) { FAIL() << "it was to stay"; });
    EXPECT_EQ(std::vector<float>(data, data + before.size()), before);
  }
  EXPECT_EQ(memory.released_bytes(), 0);
}

TEST(WeightMemory, what_others_read_stays) {
  const graph::Graph g = graph_of(R"(graph main {
    input %x: f32[n, 256]
    const %w: f32[256, 256]
    const %b: f32[256, 256]
    %1: f32[n, 256] = dense(%x, %w)
    %2: f32[256, 256] = relu(%w)
    %3: f32[256, 256] = add(%2, %b)
    output %1, %3
  })",
                                  {{"w", {256, 256}}, {"b", {256, 256}}});
  WeightMemory memory(g);
  for (graph::ValueId id : g.constants()) memory.release(g.value(id).data.parts[0].data, [](std::byte*) {});
  EXPECT_EQ(memory.released_bytes(), 0);
}

}  // namespace
}  // namespace nereid::runtime
