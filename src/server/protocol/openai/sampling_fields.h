// SPDX-License-Identifier: Apache-2.0
// What a body says of sampling. Every row of sample::setting_table() is a member by that name; what OpenAI documents
// has OpenAI's bounds; names that vLLM and llama.cpp use for the same are understood.
#pragma once

#include <string_view>

#include "llm/sample/params.h"
#include "server/protocol/openai/fields.h"

namespace nereid::server::openai {

// Everything but logprobs and max_tokens, whose form is the endpoint's, and the grammar. `random_seed` is used where
// the body has no seed.
sample::SamplingParams read_sampling(Fields& fields, uint64_t random_seed);

// What the answer must look like: response_format, guided_json, guided_regex, guided_choice, guided_grammar,
// structured_outputs, json_schema, grammar. `body` is the body's text, for the order of a schema's members. `param`:
// the member that said so.
struct GrammarField {
  sample::GrammarSpec spec;
  std::string param;
};
GrammarField read_grammar(Fields& fields, std::string_view body);

// params.validate(), told of the member at fault.
void check_sampling(const sample::SamplingParams& params, const Fields& fields);

}  // namespace nereid::server::openai
