// SPDX-License-Identifier: Apache-2.0
// A network of f32 made into one of int8: its layers read activations that are quantised and dequantised right before
// them, and weights that are dequantised. The passes of networks then make int8 layers of these (lower_quantized).
//
// Activations are u8 with one scale and zero point: code = round(x / scale) + zero, scale = (most - least) / 255,
// zero = round(-least / scale). Of products, where nobody has told the range, it is that of each run. Weights are i8,
// symmetric, with one scale an output channel: scale = max |w| / 127.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "passes/pipeline.h"

namespace nereid::passes {

// A convolution, or a product with a constant matrix, that could multiply in int8.
struct QuantizableLayer {
  std::string name;        // of its result
  std::string activation;  // what it reads
  bool is_conv = false;
};

// From least (at most 0) to most (at least 0).
struct ActivationRange {
  double least = 0, most = 0;
};

// The passes that go before: those of networks up to lowering, with scales and shifts folded into weights, so that what
// is quantised is what will be multiplied. `disabled`: passes that the caller leaves out.
Result<Report> prepare_quantization(graph::Graph& graph, const std::set<std::string, std::less<>>& disabled = {});

// Whether the network is quantised already, in part or all of it: numbers become codes, or codes numbers.
bool has_codes(const graph::Graph& graph);

// In the graph's order.
std::vector<QuantizableLayer> quantizable_layers(const graph::Graph& graph);

// Quantises those of the layers that `chosen` names. What convolutions read is read as codes by their neighbours too
// (sums, pools), so that it is stored in 8 bits only. kNotFound: what a convolution reads has no range.
Status quantize_layers(graph::Graph& graph, const std::set<std::string, std::less<>>& chosen,
                       const std::map<std::string, ActivationRange, std::less<>>& ranges);

}  // namespace nereid::passes
