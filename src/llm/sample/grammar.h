// SPDX-License-Identifier: Apache-2.0
// Guided decoding: a grammar compiled against a vocabulary says, token by token, which tokens may come next.
//
// A build without xgrammar (scripts/fetch_xgrammar) has the same interface and refuses every grammar with kUnsupported.
// Where grammars are hostile the bounds of grammar_limits.h hold, so that compiling ends in bounded time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "llm/sample/grammar_spec.h"
#include "llm/sample/vocabulary.h"

namespace nereid::sample {

// Whether this build knows grammars.
bool has_grammars();

// Immutable: any number of matchers on any threads may share it.
class CompiledGrammar {
 public:
  virtual ~CompiledGrammar() = default;
};

// Where one sequence stands in its grammar. One thread at a time; copies nothing of the grammar.
class GrammarMatcher {
 public:
  static Result<std::unique_ptr<GrammarMatcher>> make(std::shared_ptr<const CompiledGrammar> grammar);
  virtual ~GrammarMatcher() = default;

  // Sets bit t % 32 of mask[t / 32] where token t may come next, clears it elsewhere; end tokens are among them where
  // the text may end. `mask` has mask_words(vocabulary size) words or more (a model's logits may be padded). After the
  // end no bit is set.
  virtual void fill_mask(std::span<uint32_t> mask) = 0;
  // Takes the token; false, and nothing changes, where the grammar does not allow it.
  virtual bool accept(int32_t token) = 0;
  // Takes back the last `count` accepted tokens. False, and nothing changes, where there are fewer.
  virtual bool rollback(int32_t count) = 0;
  // Another that stands where this one does: a beam that splits, a choice that leaves its siblings.
  virtual std::unique_ptr<GrammarMatcher> fork() const = 0;
  // An end token has been accepted.
  virtual bool is_finished() const = 0;
  // The text so far is whole: an end token is allowed.
  virtual bool can_end() const = 0;
};

constexpr size_t mask_words(size_t vocabulary) {
  return (vocabulary + 31) / 32;
}
constexpr bool is_allowed(std::span<const uint32_t> mask, int32_t token) {
  return token >= 0 && static_cast<size_t>(token) / 32 < mask.size() &&
         (mask[static_cast<size_t>(token) / 32] >> (token % 32) & 1) != 0;
}

// Compiles grammars of one vocabulary and keeps the latest (by the memory they take). Thread-safe; a compilation of one
// spec runs once, others run beside it.
class GrammarCompiler {
 public:
  struct Options {
    size_t cache_bytes = size_t{64} << 20;
  };
  // The vocabulary is copied. kUnsupported: this build knows no grammars.
  static Result<std::unique_ptr<GrammarCompiler>> make(const Vocabulary& vocabulary, const Options& options);
  static Result<std::unique_ptr<GrammarCompiler>> make(const Vocabulary& vocabulary) { return make(vocabulary, {}); }
  virtual ~GrammarCompiler() = default;

  // kInvalidArgument: the text is not what its kind says, or beyond the bounds; kUnsupported: it asks for what no mask
  // can check; the message says what, where and what to do. Never for GrammarKind::kNone. May take as long as a few
  // tokens: call it on the thread that takes requests, not on the one that steps the model.
  virtual Result<std::shared_ptr<const CompiledGrammar>> compile(const GrammarSpec& spec) = 0;
};

}  // namespace nereid::sample
