// SPDX-License-Identifier: Apache-2.0
#include "server/protocol/openai/api_error.h"

#include <algorithm>

#include "server/protocol/openai/json_text.h"

namespace nereid::server::openai {
namespace {

struct Row {
  StatusCode code;
  int http;
  std::string_view type;
  std::string_view word;
};

// openai-python tries 429 and 5xx again; so these are what may go well the next time.
constexpr Row kRows[] = {
    {StatusCode::kInvalidArgument, 400, "invalid_request_error", "invalid_value"},
    {StatusCode::kNotFound, 404, "invalid_request_error", "not_found"},
    {StatusCode::kUnsupported, 400, "invalid_request_error", "unsupported"},
    {StatusCode::kExhausted, 429, "requests", "rate_limit_exceeded"},
    {StatusCode::kCancelled, 499, "request_cancelled", "cancelled"},
    {StatusCode::kUnavailable, 503, "server_error", "unavailable"},
    {StatusCode::kInternal, 500, "server_error", "internal_error"},
};

void append_or_null(std::string* out, std::string_view text) {
  if (text.empty())
    *out += "null";
  else
    append_json_string(out, text);
}

}  // namespace

std::string whole_sentence(std::string sentence) {
  if (!sentence.empty() && std::string_view(".!?").find(sentence.back()) == std::string_view::npos) sentence += '.';
  return sentence;
}

ApiError api_error(const Status& status, std::string_view param) {
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.code == status.code(); });
  if (row == std::end(kRows)) row = std::end(kRows) - 1;
  const bool is_about_a_member = row->http == 400;
  return {row->http, whole_sentence(status.message()), row->type,
          is_about_a_member ? std::string(param) : std::string(), row->word};
}

std::string error_body(const ApiError& error) {
  std::string out = R"({"error":{"message":)";
  append_json_string(&out, error.message);
  out += R"(,"type":)";
  append_json_string(&out, error.type);
  out += R"(,"param":)";
  append_or_null(&out, error.param);
  out += R"(,"code":)";
  append_or_null(&out, error.code);
  return out += "}}";
}

ApiError model_not_found(std::string_view name) {
  return {404, fmt::format("The model `{}` does not exist or you do not have access to it.", name),
          "invalid_request_error", "model", "model_not_found"};
}

ApiError context_exceeded(int64_t context, int64_t prompt, int64_t answer, std::string_view prompt_noun,
                          std::string_view param) {
  std::string message = fmt::format("This model's maximum context length is {} tokens. However, ", context);
  if (answer > 0) {
    message += fmt::format(
        "you requested {} tokens ({} in the {}, {} in the completion). Please reduce the length of the {} or "
        "completion.",
        prompt + answer, prompt, prompt_noun, answer, prompt_noun);
  } else {
    message += fmt::format("your {} resulted in {} tokens. Please reduce the length of the {}.", prompt_noun, prompt,
                           prompt_noun);
  }
  return {400, std::move(message), "invalid_request_error", std::string(param), "context_length_exceeded"};
}

}  // namespace nereid::server::openai
