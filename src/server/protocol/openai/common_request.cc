// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/common_request.h"

namespace nereid::server::openai {

std::string read_user(Fields& fields) {
  std::string user = fields.text("user").value_or("");
  if (user.empty()) user = fields.text("safety_identifier").value_or("");
  if (user.size() > kMaxUserBytes)
    fields.fail("user", "string_above_max_length",
                fmt::format("Invalid 'user': string too long. Expected a string with maximum length {}, but got a "
                            "string with length {} instead.",
                            kMaxUserBytes, user.size()));
  return user;
}

bool shifts(const ModelCard& card, const CommonRequest& request) {
  return request.shift_keep >= 0 || (request.shift_keep != TextRequest::kNoShift && card.shifts);
}

CommonRequest read_common(Fields& fields, const BodyReader& reader) {
  CommonRequest request;
  request.model = fields.text("model").value_or("");
  request.params = read_sampling(fields, reader.random_seed);
  GrammarField grammar = read_grammar(fields, reader.body);
  request.params.grammar = std::move(grammar.spec);
  request.grammar_param = std::move(grammar.param);
  request.n = static_cast<int32_t>(fields.integer("n", 1, kMaxChoices).value_or(1));
  request.stream = fields.boolean("stream").value_or(false);
  if (const Json* options = fields.object("stream_options")) {
    if (!request.stream) {
      fields.fail("stream_options", "invalid_value",
                  "The 'stream_options' parameter is only allowed when 'stream' is enabled.");
    }
    Fields in(*options, fields.error(), "stream_options");
    in.ignore({"include_obfuscation"});
    request.include_usage = in.boolean("include_usage").value_or(false);
    request.continuous_usage = in.boolean("continuous_usage_stats").value_or(false);
  }
  request.tokens_as_ids = fields.boolean("return_tokens_as_token_ids").value_or(false);
  request.user = read_user(fields);
  request.priority = static_cast<int32_t>(fields.integer("priority", INT32_MIN, INT32_MAX).value_or(0));
  if (const std::optional<double> seconds = fields.number("timeout", 0, kMaxRequestTimeoutS))
    request.timeout_us = static_cast<int64_t>(*seconds * 1e6);
  const auto keep = static_cast<int32_t>(fields.integer("n_keep", 0, INT32_MAX).value_or(4));
  if (const std::optional<bool> shifts = fields.boolean("context_shift"))
    request.shift_keep = *shifts ? keep : TextRequest::kNoShift;
  fields.ignore({"metadata", "store", "service_tier", "prompt_cache_key", "prompt_cache_retention", "cache_prompt",
                 "skip_special_tokens", "spaces_between_special_tokens", "request_id"});
  return request;
}

}  // namespace nereid::server::openai
