// SPDX-License-Identifier: Apache-2.0
// A tokenizer out of the files of a Hugging Face model: tokenizer.json and what stands beside it.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token {

// The files' contents; empty where there is none.
struct HuggingFaceFiles {
  std::string tokenizer_json;
  std::string tokenizer_config;    // tokenizer_config.json: BOS, EOS, chat template
  std::string special_tokens_map;  // special_tokens_map.json: the same names, older
  std::string generation_config;   // generation_config.json: the list of end tokens
  std::string chat_template;       // chat_template.jinja or chat_template.json: overrides the config's
};

// kInvalidArgument for damaged files, kUnsupported for a part that Nereid does not have.
Result<TokenizerSpec> spec_from_huggingface(const HuggingFaceFiles& files);

// TokenizerSpec::source of what spec_from_huggingface() reads.
inline constexpr std::string_view kTokenizerJson = "tokenizer.json";

// What tokenizer_config.json and the other small files say, put into a spec that has its tokens: special ids, end
// tokens, chat templates, whether BOS and EOS are added. Also used for directories with a tokenizer.model.
Status apply_huggingface_config(const HuggingFaceFiles& files, TokenizerSpec& spec);

}  // namespace nereid::token
