// SPDX-License-Identifier: Apache-2.0
#include "runtime/net/image_blocks.h"

#include <algorithm>

#include "ops/quantized_layer.h"

namespace nereid::runtime {
namespace {

constexpr int64_t kCacheBytes = 1 << 20;  // of a worker's L2 cache, for the images of a layer
constexpr size_t kFewestNodes = 3;
constexpr int64_t kMostBlocks = 64;

}  // namespace

std::vector<ImageBlocks> image_blocks(std::span<const ImageNode> nodes, int workers) {
  std::vector<ImageBlocks> out;
  for (size_t i = 0; i < nodes.size();) {
    const int64_t images = nodes[i].images;
    int64_t most = 0;
    size_t end = i;
    for (; images > 1 && end < nodes.size(); ++end) {
      const ImageNode& n = nodes[end];
      if (n.images != images || n.weight_bytes > n.image_bytes) break;
      most = std::max(most, n.image_bytes);
    }
    const int64_t fit = std::max<int64_t>(1, workers * kCacheBytes / std::max<int64_t>(1, most));
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
  } else if (op == "pool_last") {
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
