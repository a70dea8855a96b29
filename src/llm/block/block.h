// SPDX-License-Identifier: Apache-2.0
// What every recipe builds with: the graph under construction, the hyper-parameters, the weights and the step's inputs.
//
// A recipe is a function that appends plain nodes and returns the value they end in. It reads no file and decides
// nothing by a model's name. Fusing (q/k/v, gate/up, residual and norm, rope into attention) is left to passes.
// T: tokens of a step, all sequences packed; S: sequences; P: pages a sequence may have; R: rows whose logits are
// wanted.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "llm/block/model_config.h"
#include "llm/block/weights.h"

namespace nereid::llm {

struct KvCache {
  graph::ValueId keys;    // state [pages, kv_heads, page_tokens, head_dim]
  graph::ValueId values;  // likewise
};

struct Block {
  graph::Graph& graph;
  const ModelConfig& config;
  const Weights& weights;

  graph::ValueId tokens = {};       // i32[T]
  graph::ValueId positions = {};    // i32[T]: place of each token in its own sequence
  graph::ValueId sequence = {};     // i32[T]: row of page_table
  graph::ValueId page_table = {};   // i32[S, P]
  graph::ValueId output_rows = {};  // i32[R]
  // In place of sequence and page_table where ModelConfig::encodes.
  graph::ValueId types = {};   // i32[T], which of two texts read together; absent where the model has no types
  graph::ValueId starts = {};  // i32[S + 1]: where each sequence begins, and T

  std::vector<graph::ValueId> inv_freq = {};  // f32[dim / 2], one a rope
  std::vector<double> rope_scale = {};        // one a rope
  std::vector<KvCache> caches = {};           // one a layer; none where ModelConfig::encodes

  // "layer.3.q": how results are named in the graph.
  static std::string name(int64_t layer, std::string_view part);
};

using LayerRecipe = Result<graph::ValueId> (*)(Block&, int64_t layer, graph::ValueId x);
using EmbedRecipe = Result<graph::ValueId> (*)(Block&);
using HeadRecipe = Result<graph::ValueId> (*)(Block&, graph::ValueId x);

}  // namespace nereid::llm
