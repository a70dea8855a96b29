// SPDX-License-Identifier: Apache-2.0
// Scores by distance (MPNet, T5): from a value a bucket of distances to a value a distance, once, when a model is
// built.
#pragma once

#include "base/status.h"
#include "graph/graph.h"
#include "llm/block/model_config.h"
#include "llm/block/weights.h"

namespace nereid::llm {

// The bucket of a key `distance` places behind a query (negative: before it). Half of the kDistanceBuckets are for each
// side: one a place up to 7, then ever wider ones, the last for everything from 128 on (Raffel et al. 2020).
int64_t distance_bucket(int64_t distance);

// Where the model has Role::kDistanceBuckets [buckets, heads]: adds the constant that attention_packed reads, [heads,
// 2 * context_length - 1], as Role::kDistanceBias.
Status add_distance_bias(const ModelConfig& config, graph::Graph& graph, Weights& weights);

}  // namespace nereid::llm
