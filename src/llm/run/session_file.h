// SPDX-License-Identifier: Apache-2.0
// A sequence kept in a file: its tokens, their keys and values, and a text of the caller's (the conversation).
//
//     header   64 bytes: magic, version, the model's fingerprint, lengths
//     type     the cache's element types, as text (messages only)
//     note     the caller's text
//     tokens   i32 each
//     pages    whole pages in order, of every layer: as the kernels keep them
//     hash     XXH64 of everything before
//
// Everything is little endian. A file is of use to the same model (weights, graph and tokenizer) with the same type of
// cache; keys and values come back bit for bit, and another instruction set reads the same layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/run/language_model.h"

namespace nereid::llm {

struct Session {
  std::vector<int32_t> tokens;
  std::string note;
};

// Writes beside `path` and renames. The tokens are those whose keys and values the sequence's pages hold, from its
// beginning. Errors: the disk's.
Status save_session(const std::string& path, const LanguageModel& model, int32_t sequence,
                    std::span<const int32_t> tokens, std::string_view note);

// Puts the keys and values into the sequence's pages, which must be there (a model loaded with cache_tokens 0).
// kNotFound: no such file; kInvalidArgument: no session, truncated, corrupt, of another model or type of cache, or
// longer than the context: each a sentence. The pages may hold anything after an error.
Result<Session> load_session(const std::string& path, LanguageModel& model, int32_t sequence);

}  // namespace nereid::llm
