// SPDX-License-Identifier: Apache-2.0
// What completions and chats have in common: who answers, how often, and how it is sent.
#pragma once

#include <string>

#include "llm/sample/params.h"
#include "server/core/text_model.h"
#include "server/protocol/openai/fields.h"
#include "server/protocol/openai/sampling_fields.h"

namespace nereid::server::openai {

constexpr int64_t kMaxChoices = 128;     // OpenAI's bound of n
constexpr int64_t kMaxTopLogprobs = 20;  // OpenAI's of chats; vLLM's of completions
constexpr int64_t kMaxRequestTimeoutS = 86400;
constexpr size_t kMaxUserBytes = 512;  // remembered for a while, and kept with each of a request's prompts

struct CommonRequest {
  std::string model;  // "": the first there is
  sample::SamplingParams params;
  std::string grammar_param;  // the member that set params.grammar
  int32_t n = 1;
  bool stream = false;
  bool include_usage = false;     // a last chunk with it
  bool continuous_usage = false;  // and in every chunk
  bool tokens_as_ids = false;     // log-probabilities name tokens "token_id:N"
  std::string user;
  int32_t priority = 0;
  int64_t timeout_us = 0;
  int32_t shift_keep = -1;  // as TextRequest's
};

// What an endpoint needs beside the body's text.
struct BodyReader {
  std::string_view body;
  uint64_t random_seed = 0;
};

CommonRequest read_common(Fields& fields, const BodyReader& reader);
// Of "user", or "safety_identifier" as it is called now.
std::string read_user(Fields& fields);

// Whether an answer may be longer than the context.
bool shifts(const ModelCard& card, const CommonRequest& request);

}  // namespace nereid::server::openai
