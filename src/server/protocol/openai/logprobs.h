// SPDX-License-Identifier: Apache-2.0
// Log-probabilities in the two shapes OpenAI has for them.
#pragma once

#include <string>
#include <string_view>

#include "llm/sample/sampler.h"
#include "server/core/text_model.h"

namespace nereid::server::openai {

// How log-probabilities name a token: its text; "bytes:\xe2\x80" where that is no UTF-8; "token_id:5" where asked for.
class TokenNames {
 public:
  TokenNames(const TextModel& model, bool as_ids) : model_(model), as_ids_(as_ids) {}
  std::string name(int32_t token) const;
  std::string bytes(int32_t token) const { return model_.token_text(token); }

 private:
  const TextModel& model_;
  bool as_ids_;
};

// Chats: {"token":...,"logprob":...,"bytes":[...],"top_logprobs":[...]}
void append_chat_logprob(std::string* out, const TokenNames& names, const sample::SampleResult& result, int32_t top);

// Completions: four arrays, which grow token by token.
class CompletionLogprobs {
 public:
  // `offset_base`: characters that stand before the first token.
  void add(const TokenNames& names, const sample::SampleResult& result, int32_t top);
  // The first token of a prompt, of which there is no probability.
  void add_first(const TokenNames& names, int32_t token);
  bool is_empty() const { return tokens_.empty(); }
  // {"tokens":[...],...}; what was added is gone then, the offset stays.
  void take(std::string* out);

 private:
  void add_token(const TokenNames& names, int32_t token);

  std::string tokens_, logprobs_, tops_, offsets_;
  int64_t offset_ = 0;
};

bool is_utf8(std::string_view text);

}  // namespace nereid::server::openai
