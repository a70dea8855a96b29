// SPDX-License-Identifier: Apache-2.0
// The backends `tokenize` and `detokenize`: texts to tokens before a language model of tokens, and back behind it.
#pragma once

#include <memory>

#include "server/core/backend.h"

namespace nereid::server {

// Inputs QUERY (and REQUEST_OUTPUT_LEN, BAD_WORDS_DICT, STOP_WORDS_DICT, END_ID, PAD_ID), outputs INPUT_ID,
// REQUEST_INPUT_LEN and what else the models that it stands for give.
std::unique_ptr<Backend> make_tokenize_backend();
// Inputs TOKENS_BATCH and SEQUENCE_LENGTH, output OUTPUT.
std::unique_ptr<Backend> make_detokenize_backend();

}  // namespace nereid::server
