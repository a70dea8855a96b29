// SPDX-License-Identifier: Apache-2.0
// A form for what is said after the thoughts, where a prompt has begun them: free text to the mark that ends them, then
// the form.
#pragma once

#include "llm/sample/grammar_spec.h"
#include "server/protocol/openai/thoughts.h"

namespace nereid::server::openai {

// Whether the grammar binds an answer from its first token on: none and structural tags do not.
bool binds_whole_answer(const sample::GrammarSpec& form);
// A structural tag; of a form that binds the whole answer.
sample::GrammarSpec form_after_thoughts(const sample::GrammarSpec& form, const ThoughtFormat& thoughts);

}  // namespace nereid::server::openai
