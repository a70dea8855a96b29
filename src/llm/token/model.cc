// SPDX-License-Identifier: Apache-2.0
// What all models do with text that has no token.
#include "llm/token/model.h"

#include <algorithm>

namespace nereid::token {

void append_unknown(const ModelVocabulary& vocabulary, std::string_view text, size_t word_start,
                    std::vector<int32_t>& ids) {
  const TokenizerSpec& spec = *vocabulary.spec;
  const auto byte_token = [&](char c) { return vocabulary.byte_tokens[static_cast<unsigned char>(c)]; };
  if (spec.byte_fallback && std::all_of(text.begin(), text.end(), [&](char c) { return byte_token(c) != kNoToken; })) {
    for (const char c : text) ids.push_back(byte_token(c));
    return;
  }
  if (spec.unknown_id == kNoToken) return;
  const bool follows_unknown = ids.size() > word_start && ids.back() == spec.unknown_id;
  if (!(spec.fuse_unknown && follows_unknown)) ids.push_back(spec.unknown_id);
}

}  // namespace nereid::token
