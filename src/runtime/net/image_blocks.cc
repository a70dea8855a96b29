// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/image_blocks.h"

#include <algorithm>

#include "ops/quantized_layer.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kCacheBytes = 1 << 20;  // of a worker's L2 cache, for the images of a layer
constexpr size_t kFewestNodes = 3;
constexpr int64_t kMostBlocks = 64;
// Bytes of weights that may come anew for every byte of an image: they are fetched while others are multiplied, as long
// as they are not many more.
constexpr int64_t kWeights = 3;

// Images of nodes that move at most so much of one: as many for each worker, so that what one writes it reads itself.
int64_t images_that_fit(int64_t image_bytes, int workers) {
  return workers * std::max<int64_t>(1, kCacheBytes / std::max<int64_t>(1, image_bytes));
}

}  // namespace

std::vector<ImageBlocks> image_blocks(std::span<const ImageNode> nodes, int workers) {
  std::vector<ImageBlocks> out;
  for (size_t i = 0; i < nodes.size();) {
    const int64_t images = nodes[i].images;
    int64_t fit = images;
    size_t end = i;
    for (; images > 1 && end < nodes.size() && nodes[end].images == images; ++end) {
      const int64_t fewer = std::min(fit, images_that_fit(nodes[end].image_bytes, workers));
      const auto pays = [&](const ImageNode& n) { return n.weight_bytes <= kWeights * fewer * n.image_bytes; };
      if (!std::ranges::all_of(nodes.subspan(i, end + 1 - i), pays)) break;
      fit = fewer;
    }
    const int64_t block = std::max(fit, (images + kMostBlocks - 1) / kMostBlocks);
    if (end - i >= kFewestNodes && block < images) out.push_back({i, end, images, block});
    i = std::max(end, i + 1);
  }
  return out;
}

std::vector<size_t> image_inputs(const graph::Node& node) {
  const std::string_view op = node.op->name;
  std::vector<size_t> inputs;
  if (op == "conv_last_q") {
    inputs.push_back(ops::kQX);
    if (node.inputs[ops::kQResidual].valid()) inputs.push_back(ops::kQResidual);
  } else if (op == "conv_last") {
    inputs.push_back(0);
    if (node.inputs.size() > 3 && node.inputs[3].valid()) inputs.push_back(3);
  } else if (op == "pool_last" || op == "global_pool_last") {
    inputs.push_back(0);
  } else if (op == "transpose") {
    const std::vector<int64_t> permutation = node.attrs.integers("permutation");
    if (!permutation.empty() && permutation[0] == 0) inputs.push_back(0);
  } else if (op == "program") {
    for (size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(i);
  }
  return inputs;
}

}  // namespace nereid::runtime
