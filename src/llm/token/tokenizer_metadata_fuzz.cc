// SPDX-License-Identifier: Apache-2.0
// Any metadata as a stored tokenizer and as a GGUF vocabulary: an error or a tokenizer that works.
#include "llm/token/fuzz_use.h"
#include "llm/token/source_gguf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid;
  using namespace nereid::token;
  const Result<Metadata> metadata = Metadata::parse({reinterpret_cast<const char*>(data), size});
  if (!metadata.is_ok()) return 0;
  fuzz_use(TokenizerSpec::from_metadata(*metadata));
  fuzz_use(spec_from_gguf(*metadata));
  return 0;
}
