// SPDX-License-Identifier: Apache-2.0
// What the last residual stream is for: logits of the rows somebody wants, vectors of all tokens, or scores of texts.
#include "llm/block/head.h"

#include "llm/block/norm.h"

namespace nereid::llm {

using graph::ValueId;

Result<ValueId> logits_head(Block& b, ValueId x) {
  const bool capped = b.config.logit_softcap != 0;
  const ValueId matrix = b.weights.get(b.config.tied_head ? Role::kTokenEmbedding : Role::kOutput);
  NEREID_TRY(const ValueId rows, b.graph.add("select_rows", {x, b.output_rows}, {}, "output_x"));
  NEREID_TRY(const ValueId normed, rms_norm(b, rows, Role::kOutputNorm, 0, "output_x_norm"));
  NEREID_TRY(const ValueId logits,
             b.graph.add("linear", {normed, matrix, {}, {}, {}}, {}, capped ? "logits_uncapped" : "logits"));
  if (!capped) return logits;
  return b.graph.add("softcap", {logits}, {{"cap", b.config.logit_softcap}}, "logits");
}

Result<ValueId> hidden_head(Block& b, ValueId x) {
  return rms_norm(b, x, Role::kOutputNorm, 0, "hidden");
}

Result<ValueId> encoder_head(Block& b, ValueId x) {
  if (!b.config.classifies) return x;
  NEREID_TRY(ValueId row, b.graph.add("select_rows", {x, b.output_rows}, {}, "output_x"));
  if (b.weights.has(Role::kPooler, 0)) {
    const bool is_tanh = b.config.pooler_activation == "tanh";
    NEREID_TRY(row,
               b.graph.add("linear", {row, b.weights.get(Role::kPooler), b.weights.get(Role::kPoolerBias), {}, {}},
                           {{"activation", is_tanh ? std::string("none") : b.config.pooler_activation}}, "pooled"));
    // A soft cap of 1 is tanh.
    if (is_tanh) {
      NEREID_TRY(row, b.graph.add("softcap", {row}, {{"cap", 1.0}}, "pooled_tanh"));
    }
  }
  return b.graph.add("linear", {row, b.weights.get(Role::kClassifier), b.weights.get(Role::kClassifierBias), {}, {}},
                     {}, "scores");
}

}  // namespace nereid::llm
