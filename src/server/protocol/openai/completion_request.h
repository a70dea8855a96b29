// SPDX-License-Identifier: Apache-2.0
// The body of POST /v1/completions.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "server/protocol/openai/common_request.h"

namespace nereid::server::openai {

// A text, or the ids of tokens.
using Prompt = std::variant<std::string, std::vector<int32_t>>;

constexpr size_t kMaxPrompts = 2048;

// One prompt or many: a string, a list of strings, a list of ids, a list of lists of ids.
std::vector<Prompt> read_prompts(Fields& fields, std::string_view name);

struct CompletionRequest {
  CommonRequest common;
  std::vector<Prompt> prompts;
  int32_t best_of = 1;          // answers drawn; the n likeliest are given
  bool has_max_tokens = false;  // else the answer is as long as OpenAI's default, or what room there is
  bool echo = false;
  std::optional<std::string> suffix;
  bool add_special_tokens = true;
  int64_t truncate_prompt_tokens = 0;  // only the last so many; 0: all
};

// Errors: kept in `error`; the request is not whole then.
CompletionRequest read_completion(const Json& body, const BodyReader& reader, FirstError* error);

}  // namespace nereid::server::openai
