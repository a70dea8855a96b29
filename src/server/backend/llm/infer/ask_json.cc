// SPDX-License-Identifier: Apache-2.0
// `sampling_parameters`: the names of ask_names.h as members of a JSON object, and what only JSON can hold.
#include <cstdlib>

#include "base/json.h"
#include "server/backend/llm/infer/ask_names.h"

namespace nereid::server {
namespace {

// What a member of `sampling_parameters` holds, as values; an object has none.
std::vector<InferParameter> values_of(const Json& json) {
  std::vector<InferParameter> values;
  const auto add = [&](const Json& one) {
    if (one.is_boolean()) {
      values.emplace_back(one.get<bool>());
    } else if (one.is_number_integer()) {
      values.emplace_back(one.get<int64_t>());
    } else if (one.is_number()) {
      values.emplace_back(one.get<double>());
    } else if (one.is_string()) {
      values.emplace_back(one.get<std::string>());
    }
  };
  if (json.is_array()) {
    for (const Json& one : json) add(one);
  } else {
    add(json);
  }
  return values;
}

Status take_logit_bias(const Json& json, Ask* ask) {
  if (!json.is_object())
    return invalid_argument("'logit_bias' is an object of tokens and what is added to their logits");
  for (const auto& [token, bias] : json.items()) {
    char* end = nullptr;
    const long id = std::strtol(token.c_str(), &end, 10);
    if (token.empty() || *end != '\0' || id < 0 || id > INT32_MAX || !bias.is_number())
      return invalid_argument("'logit_bias' names tokens by their numbers and gives a number each; found '{}'", token);
    ask->request.params.logit_bias[static_cast<int32_t>(id)] = bias.get<float>();
  }
  return Status::ok();
}

// As vLLM's guided decoding and structured outputs: one of these members says what the answer looks like.
Status take_guide(const Json& json, Ask* ask) {
  sample::GrammarSpec& grammar = ask->request.params.grammar;
  const auto text = [](const Json& one) { return one.is_string() ? one.get<std::string>() : one.dump(); };
  using sample::GrammarKind;
  for (const auto& [name, value] : json.items()) {
    if (value.is_null()) continue;
    if (name == "json") {
      grammar = {GrammarKind::kJsonSchema, text(value)};
    } else if (name == "json_object") {
      if (value == true) grammar = {GrammarKind::kJson, ""};
    } else if (name == "regex") {
      grammar = {GrammarKind::kRegex, text(value)};
    } else if (name == "grammar") {
      grammar = {GrammarKind::kEbnf, text(value)};
    } else if (name == "choice") {
      grammar = {GrammarKind::kChoice, value.dump()};
    } else if (name == "structural_tag") {
      grammar = {GrammarKind::kStructuralTag, text(value)};
    }
  }
  return Status::ok();
}

}  // namespace

Status take_json(std::string_view text, Ask* ask) {
  NEREID_TRY(const Json json, parse_json(text, {.max_depth = 64, .max_bytes = size_t{16} << 20}));
  if (!json.is_object()) return invalid_argument("a JSON object was expected");
  for (const auto& [name, value] : json.items()) {
    if (value.is_null()) continue;
    if (name == "logit_bias") {
      NEREID_RETURN_IF_ERROR(take_logit_bias(value, ask));
    } else if (value.is_object() && (name == "guided_decoding" || name == "structured_outputs")) {
      NEREID_RETURN_IF_ERROR(take_guide(value, ask));
    } else {
      const std::vector<InferParameter> values = values_of(value);
      const Status status = take_named(name, values, ask);
      if (status.code() == StatusCode::kNotFound)
        return invalid_argument("there is no parameter '{}'; docs/reference/sampling.md lists those there are", name);
      NEREID_RETURN_IF_ERROR(status);
    }
  }
  return Status::ok();
}

}  // namespace nereid::server
