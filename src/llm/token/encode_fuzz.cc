// SPDX-License-Identifier: Apache-2.0
// Any text through byte-level BPE (all 256 bytes and some merges): what comes back is the text, made valid UTF-8.
#include <cstdlib>

#include "llm/token/fuzz_use.h"
#include "llm/token/pre_table.h"
#include "llm/token/source_tiktoken.h"
#include "llm/token/utf8.h"

namespace nereid::token {
namespace {

// A vocabulary of all bytes and a few pairs, split as row `row` of the table does.
std::unique_ptr<Tokenizer> byte_tokenizer(const PreTokenizerRow& row) {
  TokenizerSpec spec;
  spec.byte_level = true;
  spec.merge_by_score = true;
  const auto add = [&](std::string_view token) {
    spec.scores.push_back(-static_cast<float>(spec.tokens.size()));
    spec.tokens.add(token);
    spec.types.push_back(TokenType::kNormal);
  };
  for (int b = 0; b < 256; ++b) add(std::string(1, static_cast<char>(b)));
  for (const std::string_view pair : {"aa", "aaaa", "  ", "    ", "\n\n", " a", "th", "the", "11", "\xC3\xA9"})
    add(pair);
  for (const std::string_view p : row.patterns) {
    if (!p.empty())
      spec.pre_tokenizer.push_back({.kind = SplitKind::kPattern, .pattern = std::string(p), .regex = true});
  }
  spec.pre_tokenizer.push_back({.kind = SplitKind::kByteLevel});
  Result<std::unique_ptr<Tokenizer>> tokenizer = make_tokenizer(std::move(spec));
  return tokenizer.is_ok() ? std::move(tokenizer).value() : nullptr;
}

}  // namespace
}  // namespace nereid::token

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::token;
  static const auto tokenizers = [] {
    std::vector<std::unique_ptr<Tokenizer>> list;
    for (const PreTokenizerRow& row : pre_tokenizer_table()) list.push_back(byte_tokenizer(row));
    return list;
  }();
  if (size == 0) return 0;
  const auto& tokenizer = tokenizers[data[0] % tokenizers.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (tokenizer->decode(tokenizer->encode(text)) != sanitize(text)) std::abort();
  return 0;
}
