// SPDX-License-Identifier: Apache-2.0
// The gated mlp, down(act(gate(x)) * up(x)), and the plain one, down(act(up(x))).
#include "llm/block/mlp.h"

namespace nereid::llm {

using graph::ValueId;

Result<ValueId> gated_mlp(Block& b, int64_t layer, ValueId x) {
  const auto linear = [&](ValueId in, Role weight, Role bias, std::string_view name) {
    return b.graph.add("linear", {in, b.weights.get(weight, layer), b.weights.get(bias, layer), {}, {}}, {},
                       Block::name(layer, name));
  };
  NEREID_TRY(const ValueId gate, linear(x, Role::kGate, Role::kGateBias, "gate"));
  NEREID_TRY(const ValueId up, linear(x, Role::kUp, Role::kUpBias, "up"));
  NEREID_TRY(const ValueId inner,
             b.graph.add("gated", {gate, up}, {{"activation", b.config.activation}}, Block::name(layer, "gated")));
  return linear(inner, Role::kDown, Role::kDownBias, "down");
}

Result<ValueId> plain_mlp(Block& b, int64_t layer, ValueId x) {
  NEREID_TRY(const ValueId inner,
             b.graph.add("linear", {x, b.weights.get(Role::kUp, layer), b.weights.get(Role::kUpBias, layer), {}, {}},
                         {{"activation", b.config.activation}}, Block::name(layer, "up")));
  return b.graph.add("linear",
                     {inner, b.weights.get(Role::kDown, layer), b.weights.get(Role::kDownBias, layer), {}, {}}, {},
                     Block::name(layer, "down"));
}

}  // namespace nereid::llm
