// SPDX-License-Identifier: Apache-2.0
// The tokenizer that belongs to a model: from GGUF metadata, or from the files of a Hugging Face directory.
#pragma once

#include <string>

#include "import/model_source.h"
#include "llm/token/source_tiktoken.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::compile {

// kNotFound if the model carries none, naming where it was looked for. `warning`, if not null, becomes a sentence about
// what was guessed, or empty.
Result<token::TokenizerSpec> read_tokenizer(const import::ModelSource& source, std::string* warning = nullptr);

// The tokenizer in whatever `path` is, told by its content: a GGUF file (also one without weights), an engine, a
// directory with tokenizer files, a tokenizer.json, a SentencePiece model, a tiktoken file. The small files beside a
// tokenizer.json or SentencePiece model (tokenizer_config.json ...) are taken into account. `tiktoken` says what a
// tiktoken file does not; giving a pattern for another kind is an error (kInvalidArgument).
Result<token::TokenizerSpec> open_tokenizer(const std::string& path, const token::TiktokenOptions& tiktoken = {},
                                            std::string* warning = nullptr);

}  // namespace nereid::compile
