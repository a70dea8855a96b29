// SPDX-License-Identifier: Apache-2.0
// Any bytes as a tiktoken file: an error or a tokenizer that works.
#include "llm/token/fuzz_use.h"
#include "llm/token/source_tiktoken.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::token;
  fuzz_use(spec_from_tiktoken({reinterpret_cast<const char*>(data), size}, {.pattern = "gpt-2", .special_tokens = {}}));
  return 0;
}
