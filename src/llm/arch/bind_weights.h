// SPDX-License-Identifier: Apache-2.0
// From the names in a weight table to constants of the graph: found, checked, and never copied if large.
#pragma once

#include <string>
#include <vector>

#include "llm/arch/arch_input.h"
#include "llm/arch/architecture.h"
#include "llm/block/block.h"

namespace nereid::llm {

// Where this checkpoint's layers sit; the first root if none holds an embedding table (which is then missing).
const HfRoot& find_hf_root(const ArchInput& input, const Architecture& arch);

// Does the row exist once a layer?
bool is_per_layer(const WeightRow& row);
int64_t extent_size(Extent extent, const ModelConfig& config);

// The file's own name of a row's tensor; empty if the format never has it.
std::string tensor_name(const WeightRow& row, bool gguf, const HfRoot& root, int64_t layer);

// The embedding table, before anything else is known. An error if it is missing or no matrix.
Result<const ConstTensorView*> find_embedding(const ArchInput& input, const Architecture& arch, const HfRoot& root);

// The rows of the classifier's matrix: one a label; 0 where there is none.
int64_t find_labels(const ArchInput& input, const Architecture& arch, const HfRoot& root);

// Adds a constant for every row and layer, under the GGUF name of the row (slices too), and fills rope factors into
// `config.ropes[0]` and `config.tied_head` where there is no output matrix in a GGUF file.
//   matrices: views of the file in its element type, row slices of fused ones likewise;
//   vectors: f32, viewed if stored so and nothing is added, else converted copies kept by the graph.
// Names of all tensors that were read, or may be there for nothing, are appended to `used`.
// Errors name the tensor as the file does: "tensor blk.3.attn_q.weight: expected [576, 576], found [576, 512]".
Result<Weights> bind_weights(const ArchInput& input, const Architecture& arch, const HfRoot& root, ModelConfig& config,
                             graph::Graph& graph, std::vector<std::string>& used);

}  // namespace nereid::llm
