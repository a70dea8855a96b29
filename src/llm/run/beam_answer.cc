// SPDX-License-Identifier: Apache-2.0
#include "llm/run/beam_answer.h"

#include "llm/run/answer_text.h"

namespace nereid::llm {

BeamAnswer::BeamAnswer(const token::Tokenizer& tokenizer, const sample::SamplingParams& params,
                       std::span<const int32_t> prompt)
    : tokenizer_(tokenizer),
      params_(params),
      prompt_(prompt.begin(), prompt.end()),
      search_(params, tokenizer.spec().end_of_generation) {}

Result<std::unique_ptr<BeamAnswer>> BeamAnswer::make(SamplerMaker& samplers, const token::Tokenizer& tokenizer,
                                                     const sample::SamplingParams& params,
                                                     std::span<const int32_t> prompt) {
  std::unique_ptr<BeamAnswer> answer(new BeamAnswer(tokenizer, params, prompt));
  answer->beams_.resize(1);
  for (int32_t i = 0; i < params.beam_width; ++i) {
    NEREID_TRY(Drawer drawer, samplers.make(params));
    answer->samplers_.push_back(std::move(drawer.sampler));
    if (i == 0) answer->beams_[0].matcher = std::move(drawer.matcher);
  }
  return answer;
}

void BeamAnswer::gather(size_t beam, std::span<float> logits) {
  Beam& b = beams_[beam];
  std::vector<uint32_t> mask;
  if (b.matcher) {
    mask.resize(sample::mask_words(logits.size()));
    b.matcher->fill_mask(mask);
  }
  std::vector<int32_t> history = prompt_;
  const std::span<const int32_t> own = search_.tokens(beam);
  history.insert(history.end(), own.begin(), own.end());
  samplers_[beam].set_step(step_);
  b.status = samplers_[beam].continuations(logits, history, mask, search_.continuations_wanted(), &b.continuations);
}

Result<std::span<const sample::BeamStep>> BeamAnswer::advance() {
  std::vector<std::vector<sample::TokenLogprob>> continuations;
  for (Beam& b : beams_) {
    NEREID_RETURN_IF_ERROR(b.status);
    continuations.push_back(std::move(b.continuations));
  }
  const std::span<const sample::BeamStep> steps = search_.advance(continuations);
  ++step_;
  std::vector<Beam> next(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Beam& parent = beams_[static_cast<size_t>(steps[i].parent)];
    if (!parent.matcher) continue;
    next[i].matcher = parent.matcher->fork();
    if (!next[i].matcher->accept(steps[i].token))
      return internal("the grammar refuses token {}, which it allowed", steps[i].token);
  }
  beams_ = std::move(next);
  return steps;
}

std::vector<Output> BeamAnswer::results(int32_t count) const {
  std::vector<Output> outputs;
  std::vector<sample::Hypothesis> best = search_.results();
  for (int32_t choice = 0; choice < count; ++choice) {
    // Fewer answers than were wanted: the rest is empty.
    const sample::Hypothesis h =
        static_cast<size_t>(choice) < best.size() ? best[static_cast<size_t>(choice)] : sample::Hypothesis{};
    AnswerText text(tokenizer_, params_.stop);
    int64_t told = 0;
    for (int32_t token : h.tokens) {
      if (text.is_stopped()) break;
      Output out;
      out.choice = choice;
      out.token = token;
      out.sample.token = token;
      out.text = text.push(token);
      outputs.push_back(std::move(out));
      ++told;
    }
    Output last;
    last.choice = choice;
    last.finish_reason = h.ended || text.is_stopped() ? FinishReason::kStop : FinishReason::kLength;
    last.text = text.finish();
    last.is_last = true;
    last.prompt_tokens = static_cast<int64_t>(prompt_.size());
    last.answer_tokens = told;
    outputs.push_back(std::move(last));
  }
  return outputs;
}

std::vector<Output> BeamAnswer::ended(int32_t count, int64_t prompt_tokens, FinishReason reason, const Status& status) {
  std::vector<Output> outputs(static_cast<size_t>(count));
  for (int32_t choice = 0; choice < count; ++choice) {
    Output& out = outputs[static_cast<size_t>(choice)];
    out.choice = choice;
    out.is_last = true;
    out.finish_reason = reason;
    out.status = status;
    out.prompt_tokens = prompt_tokens;
  }
  return outputs;
}

}  // namespace nereid::llm
