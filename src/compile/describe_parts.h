// SPDX-License-Identifier: Apache-2.0
// The parts of a description that do not depend on the file's format. Private to compile/.
#pragma once

#include "base/metadata.h"
#include "compile/describe.h"
#include "llm/block/model_config.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::compile {

std::vector<DescribedValue> describe_metadata(const Metadata& metadata, int64_t array_items);
// The members of a JSON object; nested objects stay whole.
std::vector<DescribedValue> describe_object(const Json& object, int64_t array_items);
Json describe_config(const llm::ModelConfig& config);
DescribedTokenizer describe_tokenizer(const token::TokenizerSpec& spec);

}  // namespace nereid::compile
