// SPDX-License-Identifier: Apache-2.0
// The parts of a tokenizer.json around the model, each read into the spec's own steps.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"
#include "llm/token/tokenizer_spec.h"

namespace nereid::token::hf {

using nereid::Json;

// Values of an object's members; the fallback where there is none of that type (also if `object` is no object).
bool bool_or(const Json& object, const char* name, bool fallback);
std::string string_or(const Json& object, const char* name, std::string_view fallback);
int64_t int_or(const Json& object, const char* name, int64_t fallback);
// The member, or nullptr if there is none or it is null.
const Json* member(const Json& object, const char* name);

// Each takes the JSON value of that part (null: nothing to do) and appends to the spec. kUnsupported for a kind that
// Nereid does not have, kInvalidArgument for what the format does not allow.
Status read_normalizer(const Json& json, TokenizerSpec& spec);
Status read_pre_tokenizer(const Json& json, TokenizerSpec& spec);
Status read_decoder(const Json& json, TokenizerSpec& spec);
Status read_post_processor(const Json& json, TokenizerSpec& spec);

// A part is one step or a "Sequence" of them, which may hold sequences again: calls read(step) for each step.
template <typename Read>
Status for_each_step(const Json& json, const char* list_name, const Read& read, int depth = 0) {
  if (json.is_null()) return Status::ok();
  if (!json.is_object()) return invalid_argument("a part of tokenizer.json is no object but {}", json.type_name());
  if (string_or(json, "type", "") != "Sequence") return read(json);
  if (depth > 16) return invalid_argument("tokenizer.json nests sequences more than 16 deep");
  const Json* list = member(json, list_name);
  if (list == nullptr || !list->is_array()) {
    return invalid_argument("a sequence in tokenizer.json has no list '{}'", list_name);
  }
  for (const Json& step : *list) NEREID_RETURN_IF_ERROR(for_each_step(step, list_name, read, depth + 1));
  return Status::ok();
}

// {"String": "x"} or {"Regex": "x"}, or just "x".
Status read_pattern(const Json& step, std::string& pattern, bool& regex);

}  // namespace nereid::token::hf
