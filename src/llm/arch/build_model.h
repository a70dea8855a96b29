// SPDX-License-Identifier: Apache-2.0
// From a model's files to a graph: the plain decoder or encoder that passes, kernels and the engine file start from.
#pragma once

#include <string>
#include <vector>

#include "base/dtype.h"
#include "graph/graph.h"
#include "llm/arch/arch_input.h"
#include "llm/arch/architecture.h"
#include "llm/block/model_config.h"

namespace nereid::llm {

struct BuildOptions {
  DType kv_dtype = DType::f16;  // of the cache: f32, f16 or bf16
  int64_t page_tokens = 16;     // tokens of one sequence in one cache page
  int64_t max_context = 0;      // longest sequence to be run; 0: what the model is made for. Decides rope scalings.
  bool encodes = false;         // a decoder's vectors are wanted, not its logits; encoders have nothing else
};

struct BuiltModel {
  // Inputs  tokens i32[tokens], positions i32[tokens], sequence i32[tokens] (row of page_table),
  //         page_table i32[sequences, pages_per_sequence], output_rows i32[outputs]
  // States  k_cache.{i}, v_cache.{i}: [pages, kv_heads, page_tokens, head_dim]
  // Output  logits f32[outputs, vocab]
  // Where config.encodes there are no states, nor sequence and page_table; instead
  // Inputs  types i32[tokens] (if the model has types), starts i32[boundaries]: where each text begins, and the end;
  //         output_rows only if it classifies: the first token of each text
  // Output  f32[tokens, hidden], or scores f32[outputs, labels]
  // Constants are named as GGUF names them ("blk.3.attn_q.weight"), whichever format they came from.
  graph::Graph graph;
  ModelConfig config;
  int64_t max_context = 0;                  // as decided
  std::vector<std::string> unused_tensors;  // in the files, but no part of the architecture; sorted
  std::string warning() const;              // one sentence that names them (at most eight); empty if there are none
};

// Errors: an unknown architecture, a hyper-parameter that is missing, of a wrong type or out of bounds, a tensor that
// is missing or of a wrong shape or type. Each is a full sentence. Weights stay views into what `input` points to.
Result<BuiltModel> build_model(const ArchInput& input, const BuildOptions& options = {});

// The same by a given table, whatever the files name.
Result<BuiltModel> build_model(const Architecture& arch, const ArchInput& input, const BuildOptions& options);

}  // namespace nereid::llm
