// SPDX-License-Identifier: Apache-2.0
// Grammars where the build has none: each is refused.
#include "llm/sample/grammar.h"

namespace nereid::sample {
namespace {

Status refusal() {
  return unsupported(
      "this build has no grammars, so an answer cannot be held to JSON, a schema, a regular expression or choices; run "
      "scripts/fetch_xgrammar and build again.");
}

}  // namespace

bool has_grammars() {
  return false;
}

Result<std::unique_ptr<GrammarMatcher>> GrammarMatcher::make(std::shared_ptr<const CompiledGrammar> /*grammar*/) {
  return refusal();
}

Result<std::unique_ptr<GrammarCompiler>> GrammarCompiler::make(const Vocabulary& /*vocabulary*/,
                                                               const Options& /*options*/) {
  return refusal();
}

}  // namespace nereid::sample
