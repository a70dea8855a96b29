// SPDX-License-Identifier: Apache-2.0
// A tokenizer out of a GGUF file's metadata (keys below "tokenizer.").
#pragma once

#include "base/metadata.h"
#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// kNotFound if the metadata holds no vocabulary, kUnsupported for a kind of tokenizer that Nereid does not know,
// kInvalidArgument if the keys contradict one another. Copies what it needs. An unknown tokenizer.ggml.pre gives the
// default pre-tokenizer and sets `*warning` to a sentence about it (empty otherwise).
Result<TokenizerSpec> spec_from_gguf(const Metadata& metadata, std::string* warning = nullptr);

}  // namespace nereid::token
