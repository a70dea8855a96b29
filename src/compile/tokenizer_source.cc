// SPDX-License-Identifier: Apache-2.0
#include "compile/tokenizer_source.h"

#include "llm/token/source_gguf.h"

namespace nereid::compile {

Result<token::TokenizerSpec> read_tokenizer(const import::ModelSource& source) {
  if (source.metadata()) return token::spec_from_gguf(*source.metadata());
  return unsupported("tokenizers of Hugging Face directories are not read yet");
}

}  // namespace nereid::compile
