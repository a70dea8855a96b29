// SPDX-License-Identifier: Apache-2.0
#include "api/llm_request.h"

#include "api/options.h"
#include "llm/run/generate.h"

namespace nereid::api {
namespace {

Status read_prompt(const nereid_llm_request& r, const token::Tokenizer& tokenizer, llm::Request* out) {
  if ((r.prompt == nullptr) == (r.tokens == nullptr))
    return invalid_argument("a request has a prompt or tokens, and not both; {} given",
                            r.prompt == nullptr ? "neither was" : "both were");
  if (r.prompt != nullptr)
    out->prompt = llm::encode_prompt(tokenizer, r.prompt);
  else
    out->prompt.assign(r.tokens, r.tokens + r.token_count);
  return Status::ok();
}

Status read_settings(const nereid_llm_request& r, sample::SamplingParams* params) {
  if (r.setting_count > 0 && r.settings == nullptr)
    return invalid_argument("setting_count is {}, but settings is NULL", r.setting_count);
  for (size_t i = 0; i < r.setting_count; ++i) {
    if (r.settings[i].name == nullptr) return invalid_argument("setting {} has no name", i);
    NEREID_RETURN_IF_ERROR(sample::set(params, r.settings[i].name, r.settings[i].value));
  }
  if (r.stop_count > 0 && r.stops == nullptr)
    return invalid_argument("stop_count is {}, but stops is NULL", r.stop_count);
  for (size_t i = 0; i < r.stop_count; ++i) {
    if (r.stops[i] == nullptr) return invalid_argument("stop text {} is NULL", i);
    params->stop.emplace_back(r.stops[i]);
  }
  if (r.grammar_kind == nullptr) return Status::ok();
  NEREID_TRY(params->grammar.kind, sample::grammar_kind_of(r.grammar_kind));
  if (r.grammar != nullptr) params->grammar.text = r.grammar;
  return Status::ok();
}

}  // namespace

Result<llm::Request> read_llm_request(const nereid_llm_request* given, const token::Tokenizer& tokenizer) {
  if (given == nullptr) return invalid_argument("the request is NULL");
  NEREID_TRY(const nereid_llm_request r, read_options(given));
  llm::Request out;
  NEREID_RETURN_IF_ERROR(read_prompt(r, tokenizer, &out));
  NEREID_RETURN_IF_ERROR(read_settings(r, &out.params));
  if (r.choices < 0) return invalid_argument("choices is {}; it is 0 (one) or more", r.choices);
  out.choices = r.choices == 0 ? 1 : r.choices;
  out.priority = r.priority;
  out.timeout_us = r.timeout_us;
  if (r.user != nullptr) out.user = r.user;
  if (r.adapter != nullptr) out.adapter = r.adapter;
  return out;
}

}  // namespace nereid::api
