// SPDX-License-Identifier: Apache-2.0
// The draws of a step that are made where the logits lie, put together for the device and taken apart again.
#pragma once

#include <cstdint>
#include <vector>

#include "llm/run/answer.h"
#include "llm/run/language_model.h"

namespace nereid::llm {

class RowDraws {
 public:
  static constexpr sample::RemoteLimits kLimits{.top_k = kernels::cuda::kDrawTopK,
                                                .logprobs = kernels::cuda::kDrawTops};

  void clear();
  // The answer's next token from this row of logits: which draw that is; -1 where the answer must be shown the logits.
  int32_t add(Answer& answer, int32_t row, size_t vocabulary);
  // The same of a draw that somebody has described, with a grammar's mask (empty: none).
  int32_t add(const sample::RemoteDraw& draw, std::span<const uint32_t> grammar, int32_t row, size_t vocabulary);
  // Greedy, of a row alone.
  void add_greedy(int32_t row) { rules_.push_back({.row = row}); }
  bool is_empty() const { return rules_.empty(); }
  runtime::DrawRequest request() const {
    return {.rules = rules_, .edits = edits_, .masks = masks_, .wants_tops = wants_tops_};
  }
  // Between the model's start() and finish(). Nothing where there are no draws.
  Status begin(LanguageModel& model) const { return is_empty() ? Status::ok() : model.draw(request()); }
  // What came of a draw that has a token; one without (-1) must be drawn from the logits.
  sample::SampleResult result(const runtime::DrawnRows& drawn, int32_t draw) const;

 private:
  int32_t add_mask(std::span<const uint32_t> grammar, std::span<const uint32_t> allowed, size_t vocabulary);

  // Of the step at hand; all keep their memory.
  std::vector<kernels::cuda::DrawRule> rules_;
  std::vector<kernels::cuda::DrawEdit> edits_;
  std::vector<uint32_t> masks_;
  int32_t mask_count_ = 0;
  bool wants_tops_ = false;
  sample::RemoteDraw draw_;
};

}  // namespace nereid::llm
