// SPDX-License-Identifier: Apache-2.0
// Logit bias, and the ban of end-of-text tokens, which is a bias of -inf.
#include <limits>

#include "llm/sample/steps.h"

namespace nereid::sample {
namespace {

bool is_token(int32_t token, std::span<const float> logits) {
  return token >= 0 && static_cast<size_t>(token) < logits.size();
}

}  // namespace

void apply_bias(LogitContext& c) {
  for (const auto& [token, bias] : c.params.logit_bias) {
    if (is_token(token, c.logits)) c.logits[static_cast<size_t>(token)] += bias;
  }
}

void ban_end_tokens(LogitContext& c) {
  if (c.params.ignore_eos == 0 && c.step >= static_cast<uint64_t>(c.params.min_tokens)) return;
  for (int32_t token : c.end_tokens) {
    if (is_token(token, c.logits)) c.logits[static_cast<size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
}

}  // namespace nereid::sample
