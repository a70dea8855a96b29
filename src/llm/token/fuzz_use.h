// SPDX-License-Identifier: Apache-2.0
// For fuzzers: what must hold for any spec that a reader accepted.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "llm/token/tokenizer.h"

namespace nereid::token {

// Makes the tokenizer and uses all of it. Aborts where an id is out of range or streamed text differs from whole text.
inline void fuzz_use(Result<TokenizerSpec> spec) {
  if (!spec.is_ok()) return;
  const Result<std::unique_ptr<Tokenizer>> made = make_tokenizer(std::move(spec).value());
  if (!made.is_ok()) return;
  const Tokenizer& tokenizer = **made;
  std::vector<int32_t> all;
  for (const std::string_view text :
       {"Hello, world! I've 123 caf\xC3\xA9s.\n\n  \xE4\xBD\xA0\xE5\xA5\xBD<s>", "\xFF\xC3 ab"}) {
    const std::vector<int32_t> ids = tokenizer.encode(text, {.add_special = true, .parse_special = true});
    all.insert(all.end(), ids.begin(), ids.end());
  }
  IncrementalDetokenizer streaming(tokenizer);
  std::string streamed;
  for (const int32_t id : all) {
    if (id < 0 || id >= tokenizer.vocab_size()) std::abort();
    streamed += streaming.push(id);
    static_cast<void>(tokenizer.is_end_of_generation(id));
  }
  streamed += streaming.flush();
  const std::string whole = tokenizer.decode(all);
  // Only what a decoder takes from the very end can differ.
  if (!streamed.starts_with(whole)) std::abort();
  static_cast<void>(tokenizer.token_to_id("the"));
}

}  // namespace nereid::token
