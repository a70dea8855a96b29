// SPDX-License-Identifier: Apache-2.0
// The answers of a beam search in the making: every live beam gives its likeliest continuations, and llm/sample decides
// which of them go on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "llm/run/output.h"
#include "llm/run/sampler_maker.h"
#include "llm/sample/beam_search.h"

namespace nereid::llm {

class BeamAnswer {
 public:
  // Errors as SamplerMaker::make. The tokenizer and `samplers` must outlive it.
  static Result<std::unique_ptr<BeamAnswer>> make(SamplerMaker& samplers, const token::Tokenizer& tokenizer,
                                                  const sample::SamplingParams& params,
                                                  std::span<const int32_t> prompt);

  size_t beams() const { return search_.beams(); }
  // What may follow one live beam, from the logits of its last token (scratch). Several beams may be at work at once.
  void gather(size_t beam, std::span<float> logits);
  // When all live beams have been: those that live on, best first, each with the beam that it continues. Empty: the
  // search is over. Errors: what gathering met.
  Result<std::span<const sample::BeamStep>> advance();
  // The best `count` answers as outputs, token by token; of an error, or of a search that was ended before it was over,
  // each the one output that says so.
  std::vector<Output> results(int32_t count) const;
  static std::vector<Output> ended(int32_t count, int64_t prompt_tokens, FinishReason reason, const Status& status);

 private:
  // One that lives.
  struct Beam {
    std::unique_ptr<sample::GrammarMatcher> matcher;
    std::vector<sample::TokenLogprob> continuations;
    Status status;
  };
  BeamAnswer(const token::Tokenizer& tokenizer, const sample::SamplingParams& params, std::span<const int32_t> prompt);

  const token::Tokenizer& tokenizer_;
  sample::SamplingParams params_;
  std::vector<int32_t> prompt_;
  sample::BeamSearch search_;
  std::vector<sample::Sampler> samplers_;  // one a place; they hold nothing of a beam but scratch
  std::vector<Beam> beams_;
  uint64_t step_ = 0;  // tokens of each live beam's answer
};

}  // namespace nereid::llm
