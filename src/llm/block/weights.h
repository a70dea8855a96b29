// SPDX-License-Identifier: Apache-2.0
// The part each weight plays in a model, and where the graph holds it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "graph/graph.h"

namespace nereid::llm {

enum class Role : uint8_t {
  // once a model
  kTokenEmbedding,
  kOutputNorm,
  kOutput,
  kRopeDivisors,       // read into RopeConfig::divisors, no constant of the graph
  kRopeShortFactors,   // likewise
  kRopeLongFactors,    // likewise
  kPositionEmbedding,  // encoders: a row a place
  kTypeEmbedding,      // encoders: a row a kind of text (of two that are read together)
  kEmbeddingNorm,
  kEmbeddingNormBias,
  kDistanceBuckets,  // a row a bucket of distances, a column a head; read into kDistanceBias
  kDistanceBias,     // what attention_packed adds to scores
  kPooler,           // before a classifier
  kPoolerBias,
  kClassifier,  // a row a label
  kClassifierBias,
  // once a layer
  kAttentionNorm,
  kAttentionNormBias,
  kQuery,
  kKey,
  kValue,
  kQueryBias,
  kKeyBias,
  kValueBias,
  kQueryNorm,  // one head wide
  kKeyNorm,    // one head wide
  kAttentionOutput,
  kAttentionOutputBias,
  kPostAttentionNorm,  // on the block's result, before the residual sum
  kMlpNorm,
  kMlpNormBias,
  kGate,
  kUp,
  kDown,
  kGateBias,
  kUpBias,
  kDownBias,
  kPostMlpNorm,
};

class Weights {
 public:
  void set(Role role, int64_t layer, graph::ValueId value) { values_[{role, layer}] = value; }
  // Invalid (an absent input to any op) where the model has no such weight.
  graph::ValueId get(Role role, int64_t layer) const {
    const auto it = values_.find({role, layer});
    return it == values_.end() ? graph::ValueId{} : it->second;
  }
  graph::ValueId get(Role role) const { return get(role, 0); }
  bool has(Role role, int64_t layer) const { return values_.contains({role, layer}); }

 private:
  std::map<std::pair<Role, int64_t>, graph::ValueId> values_;
};

}  // namespace nereid::llm
