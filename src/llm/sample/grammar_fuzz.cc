// SPDX-License-Identifier: Apache-2.0
// A kind ('1' to '6') and any bytes as a grammar over a small vocabulary: a refusal, or a grammar whose masks and
// matcher agree.
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "llm/sample/grammar.h"
#include "llm/sample/grammar_limits.h"

namespace {

using namespace nereid::sample;

const Vocabulary& words() {
  static const Vocabulary vocabulary = [] {
    std::vector<std::string> pieces;
    for (int b = 0; b < 256; ++b) pieces.emplace_back(1, static_cast<char>(b));
    for (const char* piece : {"ab", "{\"", "\":", "true", "12", ""}) pieces.emplace_back(piece);
    auto made = Vocabulary::make(std::move(pieces), {261});
    return *std::move(made);
  }();
  return vocabulary;
}

void use(const std::shared_ptr<const CompiledGrammar>& grammar) {
  auto matcher = GrammarMatcher::make(grammar);
  if (!matcher.is_ok()) return;
  std::vector<uint32_t> mask(mask_words(words().size()));
  for (int32_t step = 0; step < 6 && !(*matcher)->is_finished(); ++step) {
    (*matcher)->fill_mask(mask);
    // Another token each step, the next that is allowed.
    const auto size = static_cast<int32_t>(words().size());
    int32_t token = -1;
    for (int32_t t = 0; t < size && token < 0; ++t) {
      const int32_t candidate = (t + step * 97 + 40) % size;
      if (is_allowed(mask, candidate)) token = candidate;
    }
    if (token < 0) return;
    NEREID_CHECK((*matcher)->accept(token));
    if (step == 3) NEREID_CHECK((*matcher)->rollback(2));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] < '1' || data[0] > '6') return 0;
  const GrammarSpec spec{static_cast<GrammarKind>(data[0] - '0'),
                         std::string(reinterpret_cast<const char*>(data + 1), size - 1)};
  static const auto compiler = GrammarCompiler::make(words(), {.cache_bytes = 0});
  if (!compiler.is_ok()) {
    (void)check_grammar(spec);
    return 0;
  }
  const auto grammar = (*compiler)->compile(spec);
  if (grammar.is_ok()) use(*grammar);
  return 0;
}
