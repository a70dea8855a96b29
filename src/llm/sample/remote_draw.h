// SPDX-License-Identifier: Apache-2.0
// A sampler's next draw in so few words that a device can make it where the logits lie: without a history, with the
// random number drawn. Sampler::describe() says what there is to do, Sampler::take() what came of it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace nereid::sample {

// y = logit + add; then y > 0 ? y / factor : y * factor; minus `less`.
struct LogitEdit {
  int32_t token;
  float add = 0, factor = 1, less = 0;
};

struct RemoteDraw {
  bool is_greedy = true;
  bool has_filters = false;                                   // else among all tokens, in their order
  int32_t top_k = 0;                                          // 0: off
  float top_p = 1;                                            // 1: off
  float log_min_p = -std::numeric_limits<float>::infinity();  // -inf: off
  float temperature = 1;
  int32_t logprobs = -1;              // as SamplingParams::logprobs
  double uniform = 0;                 // in [0, 1)
  std::vector<LogitEdit> edits;       // by token; each at most once
  std::span<const uint32_t> allowed;  // a bit a token, none beyond its end; empty: all
};

// What remote draws can be asked for; the rest goes by the logits.
struct RemoteLimits {
  int32_t top_k = 256, logprobs = 20;
};

}  // namespace nereid::sample
