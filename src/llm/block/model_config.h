// SPDX-License-Identifier: Apache-2.0
// The hyper-parameters of a decoder or encoder, read once from its files (llm/arch/read_config.h) and checked there:
// whoever holds one may divide by its sizes and index by its layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llm/block/rope_config.h"

namespace nereid::llm {

// What one layer's attention sees.
struct AttentionSpan {
  int64_t window = 0;  // tokens, the current one included; 0: all
  size_t rope = 0;     // index in ModelConfig::ropes
  bool operator==(const AttentionSpan&) const = default;
};

struct ModelConfig {
  std::string architecture;  // the table's name: "llama"

  int64_t layers = 0;
  int64_t hidden = 0;          // width of the residual stream
  int64_t ffn = 0;             // width inside the mlp
  int64_t heads = 0;           // query heads
  int64_t kv_heads = 0;        // key/value heads; heads is a multiple of it
  int64_t head_dim = 0;        // even; heads * head_dim need not equal hidden
  int64_t vocab = 0;           // rows of the embedding table
  int64_t context_length = 0;  // tokens the model is made for

  double norm_eps = 0;
  double norm_offset = 0;        // added to norm weights as stored (1 where files keep w of a (1 + w) norm)
  double query_scalar = 0;       // head_dim, unless the model was trained with another
  double attention_scale = 0;    // multiplies q . k: 1 / sqrt(query_scalar), unless the file says otherwise
  double embedding_scale = 1;    // multiplies embeddings
  double attention_softcap = 0;  // 0: none
  double logit_softcap = 0;      // 0: none
  std::string activation;        // of the mlp's gate: "silu", "gelu_tanh", ...
  bool tied_head = false;        // the embedding table is the output matrix too
  bool attention_bias = false;   // the files promise biases of q, k, v (and o)
  bool mlp_bias = false;

  bool encodes = false;                    // texts to vectors or to scores: no cache, no logits
  bool bidirectional = false;              // every token sees its whole text
  bool classifies = false;                 // the head is a classifier
  int64_t types = 0;                       // kinds of texts that are told apart; 0: none
  int64_t position_offset = 0;             // rows of the table of positions before that of place 0
  int64_t labels = 0;                      // scores of a classifier
  std::string pooler_activation = "tanh";  // between a classifier's two matrices

  std::vector<RopeConfig> ropes;     // at least one, unless places have embeddings
  std::vector<AttentionSpan> spans;  // one a layer

  int64_t query_width() const { return heads * head_dim; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

}  // namespace nereid::llm
