// SPDX-License-Identifier: Apache-2.0
// One answer in the making: tokens drawn from logits, as text, until something ends it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "llm/run/answer_text.h"
#include "llm/run/output.h"
#include "llm/run/sampler_maker.h"

namespace nereid::llm {

// One thread at a time. The model whose sampler it draws with must outlive it.
class Answer {
 public:
  // It ends after `max_tokens` tokens (at least 1) if nothing ends it before.
  Answer(Drawer drawer, const token::Tokenizer& tokenizer, std::span<const int32_t> prompt, int64_t max_tokens);

  // Makes the mask of the next token, over so many, if it has a grammar: any thread, before draw(), which makes it
  // where nobody did.
  void prepare_mask(size_t vocabulary);
  bool has_grammar() const { return drawer_.matcher != nullptr; }
  // The next token, from its logits (scratch). A draw that fails ends the answer, and so does a call after the end
  // (checked).
  Output draw(std::span<float> logits);
  // The same where the logits are elsewhere (sample/remote_draw.h): what is to be drawn there, of which a grammar's
  // mask is a part (empty: none; valid until the next call), and what was. False: only draw() can do it.
  bool describe(size_t vocabulary, const sample::RemoteLimits& limits, sample::RemoteDraw* draw);
  std::span<const uint32_t> mask() const {
    return has_mask_ ? std::span<const uint32_t>(mask_) : std::span<const uint32_t>();
  }
  Output take(sample::SampleResult drawn);
  // Ends it without another token: text that was held back comes out.
  Output end(FinishReason reason);
  Output fail(Status status);

  bool has_ended() const { return has_ended_; }
  // What was drawn last, also if it was an end token, which belongs to no answer; -1 before the first.
  int32_t last_drawn() const { return last_drawn_; }
  // Prompt and answer.
  std::span<const int32_t> history() const { return history_; }
  std::span<const int32_t> tokens() const { return std::span(history_).subspan(prompt_tokens_); }
  const sample::SamplingParams& params() const { return drawer_.sampler.params(); }
  // At the place of the next token.
  const sample::Sampler& sampler() const { return drawer_.sampler; }

 private:
  bool is_end_token(int32_t token) const;
  Output add(sample::SampleResult drawn);
  void finish(FinishReason reason, Output* out);

  Drawer drawer_;
  const token::Tokenizer& tokenizer_;
  AnswerText text_;
  std::vector<int32_t> history_;
  size_t prompt_tokens_;
  int64_t max_tokens_;
  int32_t last_drawn_ = -1;
  bool has_ended_ = false;
  std::vector<uint32_t> mask_;
  bool has_mask_ = false;  // of the next token
};

}  // namespace nereid::llm
