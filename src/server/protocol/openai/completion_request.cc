// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/completion_request.h"

namespace nereid::server::openai {
namespace {

// OpenAI's default for completions.
constexpr int32_t kDefaultMaxTokens = 16;

std::optional<std::vector<int32_t>> read_ids(const Json& list) {
  std::vector<int32_t> ids;
  ids.reserve(list.size());
  for (const Json& one : list) {
    if (!one.is_number_integer() || one.get<int64_t>() < 0 || one.get<int64_t>() > INT32_MAX) return std::nullopt;
    ids.push_back(one.get<int32_t>());
  }
  return ids;
}

}  // namespace

std::vector<Prompt> read_prompts(Fields& fields, std::string_view name) {
  fields.require(name);
  const Json* value = fields.any(name);
  if (!value) return {};
  if (value->is_string()) return {value->get<std::string>()};
  const auto fail_elements = [&] {
    fields.fail(
        name, "invalid_type",
        fmt::format("Invalid '{}': expected a string, an array of strings, an array of ids of tokens or an array "
                    "of such arrays.",
                    fields.path(name)));
    return std::vector<Prompt>();
  };
  if (!value->is_array()) return fail_elements();
  if (value->empty()) {
    fields.fail(
        name, "empty_array",
        fmt::format("Invalid '{}': empty array. Expected an array with minimum length 1, but got an empty array "
                    "instead.",
                    fields.path(name)));
    return {};
  }
  if ((*value)[0].is_number()) {
    std::optional<std::vector<int32_t>> ids = read_ids(*value);
    return ids ? std::vector<Prompt>{std::move(*ids)} : fail_elements();
  }
  if (value->size() > kMaxPrompts) {
    fields.fail(name, "array_above_max_length",
                fmt::format("Invalid '{}': array too long. Expected an array with maximum length {}, but got an array "
                            "with length {} instead.",
                            fields.path(name), kMaxPrompts, value->size()));
    return {};
  }
  std::vector<Prompt> prompts;
  for (const Json& one : *value) {
    if (one.is_string()) {
      prompts.emplace_back(one.get<std::string>());
      continue;
    }
    std::optional<std::vector<int32_t>> ids = one.is_array() ? read_ids(one) : std::nullopt;
    if (!ids) return fail_elements();
    prompts.emplace_back(std::move(*ids));
  }
  return prompts;
}

CompletionRequest read_completion(const Json& body, const BodyReader& reader, FirstError* error) {
  Fields fields(body, error);
  CompletionRequest request;
  CommonRequest& common = request.common;
  common = read_common(fields, reader);
  request.prompts = read_prompts(fields, "prompt");
  common.params.logprobs = static_cast<int32_t>(fields.integer("logprobs", 0, kMaxTopLogprobs).value_or(-1));
  const std::string_view longest = fields.has("n_predict") ? "n_predict" : "max_tokens";
  const std::optional<int64_t> most = fields.integer(longest, 0, INT32_MAX);
  request.has_max_tokens = most.has_value();
  common.params.max_tokens = static_cast<int32_t>(most.value_or(kDefaultMaxTokens));
  request.echo = fields.boolean("echo").value_or(false);
  request.suffix = fields.text("suffix");
  request.best_of = static_cast<int32_t>(fields.integer("best_of", 1, kMaxChoices).value_or(common.n));
  if (request.best_of < common.n) {
    fields.fail(
        "best_of", "invalid_value",
        fmt::format("Invalid 'best_of': it must be at least 'n', but got {} with n = {}.", request.best_of, common.n));
  }
  if (request.best_of > common.n && common.stream)
    fields.fail("best_of", "invalid_value", "Answers cannot be streamed when best_of is greater than n.");
  if (static_cast<size_t>(request.best_of) * request.prompts.size() > kMaxPrompts) {
    fields.fail(
        "n", "integer_above_max_value",
        fmt::format("{} prompts with {} answers each are more than the {} answers that one request may ask for.",
                    request.prompts.size(), request.best_of, kMaxPrompts));
  }
  constexpr size_t kMaxGrammarBytes = size_t{16} << 20;  // each prompt has a copy
  if (common.params.grammar.text.size() * request.prompts.size() > kMaxGrammarBytes) {
    fields.fail(common.grammar_param, "invalid_value",
                fmt::format("A grammar of {} bytes for each of {} prompts is too much; send them in several requests.",
                            common.params.grammar.text.size(), request.prompts.size()));
  }
  if (request.suffix && request.echo)
    fields.fail("suffix", "invalid_value", "'echo' cannot be used together with 'suffix'.");
  request.add_special_tokens = fields.boolean("add_special_tokens").value_or(true);
  request.truncate_prompt_tokens = fields.integer("truncate_prompt_tokens", 1, INT32_MAX).value_or(0);
  check_sampling(common.params, fields);
  fields.log_unknown("/v1/completions");
  return request;
}

}  // namespace nereid::server::openai
