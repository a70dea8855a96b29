// SPDX-License-Identifier: Apache-2.0
// Tokens known by their text to end a turn or a text: model files often name only one of them.
#pragma once

#include <string_view>

#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

enum class EndTokenTrust : uint8_t {
  kFlagsDecide,  // the source says which added tokens are special
  kTextDecides,  // an added token with the text of an end token is special, whatever the source says
};

// Adds the ids of all end tokens (the spec's own eos and eot, and the well-known texts) to spec.end_of_generation,
// sorted; sets eot_id if it is not set. `literal` is the text of token id as the file has it.
void collect_end_tokens(TokenizerSpec& spec, EndTokenTrust trust = EndTokenTrust::kFlagsDecide);

}  // namespace nereid::token
