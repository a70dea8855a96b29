// SPDX-License-Identifier: Apache-2.0
// Normalisation by weights of the model.
#include "llm/block/norm.h"

namespace nereid::llm {

std::string Block::name(int64_t layer, std::string_view part) {
  return fmt::format("layer.{}.{}", layer, part);
}

Result<graph::ValueId> rms_norm(Block& block, graph::ValueId x, Role role, int64_t layer, std::string name) {
  return block.graph.add("rms_norm", {x, block.weights.get(role, layer), {}}, {{"eps", block.config.norm_eps}},
                         std::move(name));
}

Result<graph::ValueId> head_norm(Block& block, graph::ValueId x, Role role, int64_t layer, std::string name) {
  return block.graph.add("rms_norm", {x, block.weights.get(role, layer), {}},
                         {{"eps", block.config.norm_eps}, {"group", block.config.head_dim}}, std::move(name));
}

Result<graph::ValueId> layer_norm(Block& block, graph::ValueId x, Role role, Role bias, int64_t layer,
                                  std::string name) {
  return block.graph.add("layer_norm", {x, block.weights.get(role, layer), block.weights.get(bias, layer)},
                         {{"eps", block.config.norm_eps}}, std::move(name));
}

}  // namespace nereid::llm
