// SPDX-License-Identifier: Apache-2.0
#include "llm/run/sampler_maker.h"

#include <algorithm>

namespace nereid::llm {
namespace {

// Before anything is as large as the greatest id that a request names.
Status check_tokens(const sample::SamplingParams& params, int64_t vocab) {
  const auto check = [&](std::string_view name, int32_t token) {
    if (token < vocab) return Status::ok();
    return invalid_argument("{} names the token {}, but the vocabulary has {} tokens.", name, token, vocab);
  };
  for (const auto& [token, bias] : params.logit_bias) NEREID_RETURN_IF_ERROR(check("logit_bias", token));
  for (int32_t token : params.stop_token_ids) NEREID_RETURN_IF_ERROR(check("stop_token_ids", token));
  for (int32_t token : params.allowed_token_ids) NEREID_RETURN_IF_ERROR(check("allowed_token_ids", token));
  return Status::ok();
}

}  // namespace

Result<const sample::Vocabulary*> SamplerMaker::vocabulary() {
  const std::lock_guard lock(mutex_);
  if (!vocabulary_) {
    std::vector<std::string> pieces(static_cast<size_t>(vocab_));
    for (int32_t id = 0; id < std::min<int64_t>(vocab_, tokenizer_.vocab_size()); ++id)
      if (!tokenizer_.is_special(id)) pieces[static_cast<size_t>(id)] = tokenizer_.piece(id);
    NEREID_TRY(sample::Vocabulary made,
               sample::Vocabulary::make(std::move(pieces), tokenizer_.spec().end_of_generation));
    vocabulary_ = std::make_unique<const sample::Vocabulary>(std::move(made));
  }
  return vocabulary_.get();
}

Result<sample::GrammarCompiler*> SamplerMaker::grammars() {
  NEREID_TRY(const sample::Vocabulary* vocabulary, this->vocabulary());
  const std::lock_guard lock(mutex_);
  if (!grammars_) {
    NEREID_TRY(grammars_, sample::GrammarCompiler::make(*vocabulary));
  }
  return grammars_.get();
}

Result<Drawer> SamplerMaker::make(const sample::SamplingParams& params) {
  NEREID_RETURN_IF_ERROR(params.validate());
  NEREID_RETURN_IF_ERROR(check_tokens(params, vocab_));
  const bool guided = !params.grammar.is_none();
  if (!guided && !params.needs_vocabulary()) {
    NEREID_TRY(sample::Sampler sampler, sample::Sampler::make(params, tokenizer_.spec().end_of_generation));
    return Drawer{.sampler = std::move(sampler), .matcher = nullptr};
  }
  NEREID_TRY(const sample::Vocabulary* vocabulary, this->vocabulary());
  NEREID_TRY(sample::Sampler sampler, sample::Sampler::make(params, *vocabulary));
  Drawer drawer{.sampler = std::move(sampler), .matcher = nullptr};
  if (!guided) return drawer;
  NEREID_TRY(sample::GrammarCompiler * compiler, grammars());
  NEREID_TRY(std::shared_ptr<const sample::CompiledGrammar> grammar, compiler->compile(params.grammar));
  NEREID_TRY(drawer.matcher, sample::GrammarMatcher::make(std::move(grammar)));
  return drawer;
}

}  // namespace nereid::llm
