// SPDX-License-Identifier: Apache-2.0
// A context whose outputs stay on a device: runs without waiting, tokens drawn from rows of logits there, and single
// rows brought over for who wants them.
//
// start(), then draw() at most once, then finish(): only then are there results. Errors are those of Context::run().
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "kernels/cuda/draw_rows.h"

namespace nereid::runtime {

// Views that draw() copies. A mask has a bit for each logit of a row, in whole words.
struct DrawRequest {
  std::span<const kernels::cuda::DrawRule> rules;
  std::span<const kernels::cuda::DrawEdit> edits;
  std::span<const uint32_t> masks;
  bool wants_tops = false;  // some rule's logprobs are above 0
};

// By rule; valid until the next draw().
struct DrawnRows {
  std::span<const int32_t> tokens;  // -1: to be drawn from the logits
  std::span<const float> logprobs;
  std::span<const int32_t> top_tokens;  // kDrawTops a rule, where tops were wanted
  std::span<const float> top_logprobs;
};

class RowDrawer {
 public:
  virtual ~RowDrawer() = default;
  // As Context::run(), but returns while the work is under way; outputs are not brought over.
  virtual Status start() = 0;
  virtual Status draw(const DrawRequest& request) = 0;
  virtual Status finish() = 0;
  virtual DrawnRows drawn() const = 0;
  // These rows of the output "logits" can then be read where Context::output() says.
  virtual Status bring(std::span<const int32_t> rows) = 0;
};

}  // namespace nereid::runtime
