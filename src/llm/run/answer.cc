// SPDX-License-Identifier: Apache-2.0
#include "llm/run/answer.h"

#include <algorithm>

namespace nereid::llm {

std::string_view finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
    case FinishReason::kTimeout:
      return "timeout";
  }
  return "";
}

Answer::Answer(Drawer drawer, const token::Tokenizer& tokenizer, std::span<const int32_t> prompt, int64_t max_tokens)
    : drawer_(std::move(drawer)),
      tokenizer_(tokenizer),
      text_(tokenizer, params().stop),
      history_(prompt.begin(), prompt.end()),
      prompt_tokens_(prompt.size()),
      max_tokens_(max_tokens) {}

bool Answer::is_end_token(int32_t token) const {
  const std::vector<int32_t>& own = params().stop_token_ids;
  return tokenizer_.is_end_of_generation(token) || std::find(own.begin(), own.end(), token) != own.end();
}

void Answer::finish(FinishReason reason, Output* out) {
  out->text += text_.finish();
  out->is_last = true;
  out->finish_reason = reason;
  out->prompt_tokens = static_cast<int64_t>(prompt_tokens_);
  out->answer_tokens = static_cast<int64_t>(tokens().size());
  has_ended_ = true;
}

void Answer::prepare_mask(size_t vocabulary) {
  if (!drawer_.matcher || has_mask_) return;
  mask_.resize(sample::mask_words(vocabulary));
  drawer_.matcher->fill_mask(mask_);
  has_mask_ = true;
}

Output Answer::draw(std::span<float> logits) {
  NEREID_CHECK(!has_ended_);
  prepare_mask(logits.size());
  has_mask_ = false;
  Result<sample::SampleResult> drawn = drawer_.sampler.sample(logits, history_, mask_);
  return drawn.is_ok() ? add(std::move(drawn).value()) : fail(drawn.status());
}

bool Answer::describe(size_t vocabulary, const sample::RemoteLimits& limits, sample::RemoteDraw* draw) {
  if (!drawer_.sampler.describe(history_, limits, draw)) return false;
  prepare_mask(vocabulary);
  return true;
}

Output Answer::take(sample::SampleResult drawn) {
  NEREID_CHECK(!has_ended_);
  has_mask_ = false;
  return add(drawer_.sampler.take(std::move(drawn)));
}

Output Answer::add(sample::SampleResult drawn) {
  last_drawn_ = drawn.token;
  if (drawer_.matcher && !drawer_.matcher->accept(last_drawn_))
    return fail(internal("the grammar refuses token {}, which it allowed", last_drawn_));
  if (is_end_token(last_drawn_)) return end(FinishReason::kStop);
  Output out;
  out.token = last_drawn_;
  out.sample = std::move(drawn);
  history_.push_back(last_drawn_);
  out.text = text_.push(last_drawn_);
  if (text_.is_stopped())
    finish(FinishReason::kStop, &out);
  else if (static_cast<int64_t>(tokens().size()) >= max_tokens_)
    finish(FinishReason::kLength, &out);
  return out;
}

Output Answer::end(FinishReason reason) {
  Output out;
  finish(reason, &out);
  return out;
}

Output Answer::fail(Status status) {
  Output out = end(FinishReason::kCancelled);
  out.status = std::move(status);
  return out;
}

}  // namespace nereid::llm
