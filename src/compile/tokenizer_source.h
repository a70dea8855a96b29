// SPDX-License-Identifier: Apache-2.0
// The tokenizer that belongs to a model: from GGUF metadata, or from the files of a Hugging Face directory.
#pragma once

#include "import/model_source.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::compile {

// kNotFound if the model carries none, naming where it was looked for.
Result<token::TokenizerSpec> read_tokenizer(const import::ModelSource& source);

}  // namespace nereid::compile
