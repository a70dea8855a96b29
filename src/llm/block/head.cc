// SPDX-License-Identifier: Apache-2.0
// The last residual stream to logits, only for the rows somebody wants.
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

}  // namespace nereid::llm
