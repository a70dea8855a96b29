// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/chat_request.h"

#include <array>

#include "server/protocol/openai/raw_json.h"

namespace nereid::server::openai {
namespace {

void read_logprobs(Fields& fields, sample::SamplingParams* params) {
  const bool wanted = fields.boolean("logprobs").value_or(false);
  const std::optional<int64_t> top = fields.integer("top_logprobs", 0, kMaxTopLogprobs);
  if (top && !wanted) {
    fields.fail("top_logprobs", "invalid_value",
                "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.");
  }
  if (wanted) params->logprobs = static_cast<int32_t>(top.value_or(0));
}

void read_max_tokens(Fields& fields, ChatRequest* request) {
  // max_tokens is the old name.
  std::optional<int64_t> most = fields.integer("max_completion_tokens", 1, INT32_MAX);
  const std::optional<int64_t> old = fields.integer("max_tokens", 1, INT32_MAX);
  if (!most) most = old;
  request->has_max_tokens = most.has_value();
  if (most) request->common.params.max_tokens = static_cast<int32_t>(*most);
}

// SGLang's, vLLM's and llama.cpp's ways to say it.
ThoughtUse read_thoughts(Fields& fields) {
  const bool is_inline = !fields.boolean("separate_reasoning").value_or(true);
  const bool is_dropped = !fields.boolean("include_reasoning").value_or(true);
  static constexpr std::string_view kFormats[] = {"none", "auto", "deepseek", "deepseek-legacy"};
  const std::string format = fields.word("reasoning_format", kFormats).value_or("auto");
  if (is_inline || format == "none") return ThoughtUse::kInline;
  return is_dropped ? ThoughtUse::kDropped : ThoughtUse::kSeparate;
}

}  // namespace

ChatRequest read_chat(const Json& body, const BodyReader& reader, FirstError* error) {
  Fields fields(body, error);
  ChatRequest request;
  request.messages = read_messages(fields);
  request.common = read_common(fields, reader);
  read_logprobs(fields, &request.common.params);
  read_max_tokens(fields, &request);
  request.tools = read_tools(fields, reader.body);
  if (const Json* variables = fields.object("chat_template_kwargs")) {
    if (!has_small_objects(*variables)) {
      fields.fail(
          "chat_template_kwargs", "invalid_value",
          fmt::format("Invalid 'chat_template_kwargs': an object in it has more than {} members.", kMaxOrderedMembers));
    }
    const std::array<JsonStep, 1> path = {std::string_view("chat_template_kwargs")};
    request.variables = raw_value(reader.body, path);
  }
  request.add_generation_prompt = fields.boolean("add_generation_prompt").value_or(true);
  request.thoughts = read_thoughts(fields);
  if (const Json* modalities = fields.array("modalities")) {
    for (const Json& one : *modalities) {
      const auto* word = one.get_ptr<const std::string*>();
      if (!word || *word != "text")
        fields.fail("modalities", "unsupported_value", fmt::format("This model writes text only, not {}.", one.dump()));
    }
  }
  fields.ignore({"reasoning_effort", "verbosity", "prediction", "web_search_options", "audio"});
  check_sampling(request.common.params, fields);
  fields.log_unknown("/v1/chat/completions");
  return request;
}

}  // namespace nereid::server::openai
