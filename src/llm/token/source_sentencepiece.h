// SPDX-License-Identifier: Apache-2.0
// A tokenizer out of a SentencePiece model file (tokenizer.model, spiece.model).
#pragma once

#include <string_view>

#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// Reads the pieces, the model type (unigram or BPE) and the normaliser. The file does not say which special tokens a
// model wants around its text: BPE models get BOS (as Llama and Mistral do), unigram models nothing;
// apply_huggingface_config() corrects that where a tokenizer_config.json stands beside the file.
// kInvalidArgument for damaged bytes, kUnsupported for word and character models.
Result<TokenizerSpec> spec_from_sentencepiece(std::string_view bytes);

}  // namespace nereid::token
