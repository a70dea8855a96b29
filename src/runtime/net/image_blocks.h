// SPDX-License-Identifier: Apache-2.0
// Batches that are cut: stretches of nodes that run for a few images, then for the next ones, so that what a layer
// writes is still in the L2 cache when the next layer reads it. Values that live inside a stretch have memory for these
// few images alone, the same for all of them.
//
// ResNet-50 in int8, batch 16, one thread of AVX-512: its first layers took a third longer for an image than at batch
// 1, waiting for memory. Layers with many more weights than they move of a few images gain nothing: their weights would
// have to come again for all of these.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace nereid::runtime {

// What is known of a node for this.
struct ImageNode {
  int64_t images = 0;        // in its batch; 0: it cannot be cut
  int64_t image_bytes = 0;   // that it reads and writes for an image
  int64_t weight_bytes = 0;  // that it reads for any number of images
};

// Nodes [begin, end), `block` images at a time.
struct ImageBlocks {
  size_t begin = 0, end = 0;
  int64_t images = 0, block = 0;
};

// In order, apart from each other. Pure.
std::vector<ImageBlocks> image_blocks(std::span<const ImageNode> nodes, int workers);

// The inputs that have an image for each of the result's images; empty for ops that look at more than one image, or
// that are not known here. The other inputs must be known before a run.
std::vector<size_t> image_inputs(const graph::Node& node);

}  // namespace nereid::runtime
