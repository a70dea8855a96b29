// SPDX-License-Identifier: Apache-2.0
// Tokens of many requests from their rows of logits, each by its own rule: as llm/sample's chain draws them.
//
// A row's rule: raw log-probabilities if asked for; edits of single logits and a mask; then the largest logit (greedy),
// or a draw by `uniform` among exp(logit / temperature) of all tokens, in the order of tokens, or of those that top_k,
// top_p and min_p leave, in the order that llm/sample has them. Weights have the bits of llm/sample's, sums are of
// doubles, so the token is the same unless `uniform` or top_p falls within 1e-8 of a border. Where more than
// kDrawCandidates tokens are left by a filter, or none at all, the token is -1 and the caller draws from the logits,
// which are as they were. Ties go to the lowest token; NaN counts as -inf.
//
// Bytes: the logits once a pass, from the second-level cache: 1 pass greedy, 3 for all tokens, 3 to 5 with filters, 2
// or 3 more for log-probabilities. Bound: a block a row, so the L2 bandwidth of one multiprocessor (about 100 GB/s).
#pragma once

#include <limits>

#include "kernels/cuda/launch.h"

namespace nereid::kernels::cuda {

inline constexpr int kDrawCandidates = 1024;
inline constexpr int kDrawTopK = 256;                   // the largest top_k
inline constexpr int kDrawTops = 20;                    // the most likeliest tokens that are told
inline constexpr int64_t kDrawVocabulary = 128 * 2048;  // the largest

enum class DrawKind : int32_t { kGreedy, kAny, kFiltered };

struct DrawRule {
  double uniform = 0;  // in [0, 1)
  DrawKind kind = DrawKind::kGreedy;
  int32_t row = 0;                                            // of the logits
  int32_t top_k = 0;                                          // 0: off
  float top_p = 1.0f;                                         // 1: off
  float log_min_p = -std::numeric_limits<float>::infinity();  // logits are at least the best's + this; -inf: off
  float temperature = 1;                                      // above 0
  int32_t logprobs = -1;                                      // -1: none; 0: the token's; k: and the k likeliest's
  int32_t mask = -1;                                          // which of the masks; -1: none
  int32_t first_edit = 0;                                     // of the edits
  int32_t edits = 0;                                          // a token comes at most once
};

// x becomes y = x + add, y > 0 ? y / factor : y * factor, minus `less`.
struct DrawEdit {
  int32_t token = 0;
  float add = 0, factor = 1, less = 0;
  float was = 0;  // the kernel's: the logit as it was
};

struct DrawRowsParams {
  float* logits = nullptr;  // [rows, vocab]; edited and restored
  int64_t stride = 0;
  int64_t vocab = 0;
  int64_t draws = 0;
  const DrawRule* rules = nullptr;  // [draws]
  DrawEdit* edits = nullptr;
  const uint32_t* masks = nullptr;  // a bit a token, vocabulary / 32 words rounded up each
  int32_t* tokens = nullptr;        // [draws]
  float* logprobs = nullptr;        // [draws]
  int32_t* top_tokens = nullptr;    // [draws, kDrawTops], best first; -1 behind the last
  float* top_logprobs = nullptr;    // [draws, kDrawTops]
};
void draw_rows(const DrawRowsParams& params, const Queue& queue);

}  // namespace nereid::kernels::cuda
