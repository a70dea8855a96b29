// SPDX-License-Identifier: Apache-2.0
// A tokenizer out of a tiktoken file: one line a token, its bytes in base64 and its rank.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// What the file does not say. Left empty, it is guessed from the number of tokens (the families of GPT-2, GPT-4,
// GPT-4o, Llama 3 and Qwen have each their own).
struct TiktokenOptions {
  std::string pattern;  // a name of pre_table.h ("qwen2", "llama-bpe", "gpt-4o") or a regular expression
  std::vector<std::pair<std::string, int32_t>> special_tokens;
};

// kInvalidArgument for a line that is no pair, ranks that repeat, or a pattern that is none.
Result<TokenizerSpec> spec_from_tiktoken(std::string_view text, const TiktokenOptions& options = {});

}  // namespace nereid::token
