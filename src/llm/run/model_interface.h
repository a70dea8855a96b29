// SPDX-License-Identifier: Apache-2.0
// What a language model's graph must look like for LanguageModel to run it: llm/arch builds nothing else, but an engine
// file may hold anything. Private to llm/run.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace nereid::llm {

struct ModelInterface {
  int64_t vocab = 0;        // columns of the logits
  int64_t page_tokens = 0;  // of every key/value cache
};

// kInvalidArgument, naming what is amiss, unless the graph has the inputs and the output of llm/arch/build_model.h and
// indexes memory by these inputs alone: then the checks of LanguageModel::step() keep every kernel inside its memory.
Result<ModelInterface> check_interface(const graph::Graph& graph);

}  // namespace nereid::llm
