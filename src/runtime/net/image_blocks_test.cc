// SPDX-License-Identifier: Apache-2.0
// Which nodes run for some images at a time, and that a network computes the same codes cut and whole.
#include "runtime/net/image_blocks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "graph/text.h"
#include "runtime/net/context.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kKib = 1024;

TEST(ImageBlocks, take_layers_that_move_more_than_they_weigh) {
  const std::vector<ImageNode> nodes = {
      {.images = 0, .image_bytes = 900 * kKib, .weight_bytes = 0},           // cannot be cut
      {.images = 16, .image_bytes = 900 * kKib, .weight_bytes = 0},          //
      {.images = 16, .image_bytes = 300 * kKib, .weight_bytes = 20 * kKib},  //
      {.images = 16, .image_bytes = 200 * kKib, .weight_bytes = 90 * kKib},  //
      {.images = 16, .image_bytes = 200 * kKib, .weight_bytes = 900 * kKib},
  };
  const auto blocks = image_blocks(nodes, 1);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].begin, 1U);
  EXPECT_EQ(blocks[0].end, 4U);
  EXPECT_EQ(blocks[0].images, 16);
  EXPECT_EQ(blocks[0].block, 1);
}

// A stretch whose images are smaller takes more of them, and with them more weights.
TEST(ImageBlocks, begin_anew_where_more_images_fit) {
  std::vector<ImageNode> nodes(3, {.images = 16, .image_bytes = 900 * kKib, .weight_bytes = 0});
  nodes.resize(6, {.images = 16, .image_bytes = 120 * kKib, .weight_bytes = 600 * kKib});
  const auto blocks = image_blocks(nodes, 1);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].end, 3U);
  EXPECT_EQ(blocks[0].block, 1);
  EXPECT_EQ(blocks[1].end, 6U);
  EXPECT_EQ(blocks[1].block, 8);
}

TEST(ImageBlocks, hold_more_images_of_more_workers) {
  const std::vector<ImageNode> nodes(4, {.images = 16, .image_bytes = 900 * kKib, .weight_bytes = 0});
  ASSERT_EQ(image_blocks(nodes, 8).size(), 1U);
  EXPECT_EQ(image_blocks(nodes, 8)[0].block, 8);
}

TEST(ImageBlocks, leave_what_fits_the_cache_or_is_short_or_one_image) {
  EXPECT_TRUE(image_blocks(std::vector<ImageNode>(4, {.images = 16, .image_bytes = 60 * kKib}), 1).empty());
  EXPECT_TRUE(image_blocks(std::vector<ImageNode>(2, {.images = 16, .image_bytes = 900 * kKib}), 1).empty());
  EXPECT_TRUE(image_blocks(std::vector<ImageNode>(4, {.images = 1, .image_bytes = 900 * kKib}), 1).empty());
}

TEST(ImageBlocks, are_not_too_many) {
  const std::vector<ImageNode> nodes(4, {.images = 1000, .image_bytes = 900 * kKib, .weight_bytes = 0});
  EXPECT_EQ(image_blocks(nodes, 1)[0].block, 16);
}

// A block as networks of codes have it: a branch that skips two layers, codes that leave the stretch twice.
constexpr std::string_view kNetwork = R"(graph main {
  input %x: f32[n, 3, 96, 96]
  const %w0: i8[64, 3, 3, 3]
  const %w1: i8[16, 64, 1, 1]
  const %w2: i8[16, 1, 3, 3]
  const %w3: i8[64, 16, 1, 1]
  const %s: f32[] = [0.05]
  const %z: u8[] = [120]
  const %ws: f32[1] = [0.02]
  const %t: f32[] = [0.9]
  %p = program(%x) {dtype="u8", steps=["mul_constant 0 40.0", "add_constant 1 120.0"]}
  %q = transpose(%p) {permutation=[0, 2, 3, 1]}
  %a = conv_last_q(%q, %w0, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {pads=[1, 1, 1, 1]}
  %b = conv_last_q(%a, %w1, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {activation="relu"}
  %c = conv_last_q(%b, %w2, %s, %ws, %z, _, _, _, _, _, _, %t, %z) {group=16, pads=[1, 1, 1, 1]}
  %d = conv_last_q(%c, %w3, %s, %ws, %z, _, %a, %t, %z, %t, %z, %t, %z) {activation="relu"}
  %m = pool_last(%d) {kind="max", kernel_shape=[2, 2], strides=[2, 2]}
  %g = global_pool_last(%m) {kind="average"}
  output %g, %c
})";

std::vector<std::vector<std::byte>> outputs(const graph::Graph& g, int64_t images, int threads) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(9 * 3 * 96 * 96));
  for (float& v : x) v = normal(random);
  x.resize(static_cast<size_t>(images * 3 * 96 * 96));
  ThreadPool pool({.threads = threads});
  const auto network = Network::create(g, nullptr, best_isa(read_cpu_info()).value());
  const auto context = NetContext::create(network, pool);
  std::vector<double> numbers(x.begin(), x.end());
  const ops::Datum input = ops::Tensor::of(DType::f32, {images, 3, 96, 96}, numbers);
  EXPECT_TRUE(context->set_input(0, input).is_ok());
  const Status done = context->run();
  EXPECT_TRUE(done.is_ok()) << done.message();
  EXPECT_TRUE(context->notes().empty());
  std::vector<std::vector<std::byte>> out;
  for (size_t i = 0; i < 2; ++i) {
    const auto value = context->output_value(i);
    const ConstTensorView v = value.view();
    const auto* data = static_cast<const std::byte*>(v.data);
    out.emplace_back(data, data + v.bytes());
  }
  return out;
}

// The same of numbers: layers that multiply in bf16 whatever the instruction set, and one that does not.
constexpr std::string_view kNumbers = R"(graph main {
  input %x: f32[n, 3, 96, 96]
  const %w0: f32[64, 3, 3, 3]
  const %w1: f32[16, 64, 1, 1]
  const %w2: f32[16, 1, 3, 3]
  const %w3: f32[64, 16, 1, 1]
  const %w4: f32[64, 64, 3, 3]
  const %b: f32[64]
  %q = transpose(%x) {permutation=[0, 2, 3, 1]}
  %a = conv_last(%q, %w0, %b) {activation="relu", pads=[1, 1, 1, 1], precision="bf16"}
  %b1 = conv_last(%a, %w1) {activation="relu", precision="bf16"}
  %c = conv_last(%b1, %w2) {group=16, pads=[1, 1, 1, 1], precision="bf16"}
  %d = conv_last(%c, %w3, %b, %a) {activation="relu", precision="bf16"}
  %m = pool_last(%d) {kind="max", kernel_shape=[2, 2], strides=[2, 2]}
  %e = conv_last(%m, %w4) {pads=[1, 1, 1, 1], precision="f32"}
  %g = global_pool_last(%e) {kind="average"}
  output %g, %c
})";

void expect_the_same_alone(std::string_view text) {
  auto parsed = graph::parse(text);
  ASSERT_TRUE(parsed.is_ok()) << parsed.status().message();
  graph::Graph g = std::move(parsed).value();
  std::vector<std::shared_ptr<ops::Tensor>> kept;
  std::mt19937 random(3);
  std::uniform_int_distribution<int> draw(-128, 127);
  for (graph::ValueId id : g.constants()) {
    if (!g.value(id).data.parts.empty()) continue;
    std::vector<double> numbers(static_cast<size_t>(*g.value(id).type.shape.elements()));
    const bool codes = g.value(id).type.dtype == DType::i8;
    for (double& v : numbers) v = codes ? draw(random) : draw(random) / 1024.0;
    kept.push_back(std::make_shared<ops::Tensor>(
        ops::Tensor::of(g.value(id).type.dtype, g.value(id).type.shape.sizes(), numbers)));
    g.bind_constant(id, {.parts = {std::as_const(*kept.back()).view()}});
  }
  const auto one = outputs(g, 1, 1);
  for (const int threads : {1, 3}) {
    const auto nine = outputs(g, 9, threads);
    for (size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(nine[i].size(), 9 * one[i].size());
      EXPECT_EQ(std::memcmp(nine[i].data(), one[i].data(), one[i].size()), 0) << "result " << i;
    }
    // Whole batches that are small are not cut: the same codes again.
    const auto two = outputs(g, 2, threads);
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_EQ(std::memcmp(nine[i].data(), two[i].data(), two[i].size()), 0) << "result " << i;
  }
}

TEST(ImageBlocks, give_every_image_the_codes_it_has_alone) {
  expect_the_same_alone(kNetwork);
}
TEST(ImageBlocks, give_every_image_the_numbers_it_has_alone) {
  expect_the_same_alone(kNumbers);
}

}  // namespace
}  // namespace nereid::runtime
