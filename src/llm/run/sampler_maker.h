// SPDX-License-Identifier: Apache-2.0
// What drawing tokens needs of a model beside its logits: end tokens, and, where parameters ask for them, the bytes of
// its tokens and grammars compiled against them. These are made when they are first asked for.
#pragma once

#include <memory>
#include <mutex>

#include "llm/sample/grammar.h"
#include "llm/sample/sampler.h"
#include "llm/sample/vocabulary.h"
#include "llm/token/tokenizer.h"

namespace nereid::llm {

// Draws the tokens of one answer.
struct Drawer {
  sample::Sampler sampler;
  std::unique_ptr<sample::GrammarMatcher> matcher;  // nothing without a grammar
};

// Thread-safe. Drawers hold pointers into it.
class SamplerMaker {
 public:
  // `vocab`: how many logits there are; the tokenizer must outlive this, and may know fewer tokens.
  SamplerMaker(const token::Tokenizer& tokenizer, int64_t vocab) : tokenizer_(tokenizer), vocab_(vocab) {}

  // Takes as long as a grammar needs to be compiled, unless it was before. Errors: as Sampler::make and
  // GrammarCompiler::compile.
  Result<Drawer> make(const sample::SamplingParams& params);

 private:
  Result<const sample::Vocabulary*> vocabulary();
  Result<sample::GrammarCompiler*> grammars();

  const token::Tokenizer& tokenizer_;
  int64_t vocab_;
  std::mutex mutex_;  // of the two
  std::unique_ptr<const sample::Vocabulary> vocabulary_;
  std::unique_ptr<sample::GrammarCompiler> grammars_;
};

}  // namespace nereid::llm
