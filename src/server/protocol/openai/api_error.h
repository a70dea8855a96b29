// SPDX-License-Identifier: Apache-2.0
// What a request is told when it cannot be answered: OpenAI's error object and the HTTP status that carries it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace nereid::server::openai {

struct ApiError {
  int http = 400;
  std::string message;
  std::string_view type = "invalid_request_error";
  std::string param = {};      // the member at fault, "messages[0].role"; "": null
  std::string_view code = {};  // a word for programs; "": null
};

// Of several errors of one request the first is told.
class FirstError {
 public:
  void set(ApiError error) {
    if (!error_) error_ = std::move(error);
  }
  bool is_set() const { return error_.has_value(); }
  const ApiError& get() const { return *error_; }

 private:
  std::optional<ApiError> error_;
};

// Sentences inside the program go without an end mark, as context may follow; here they end.
std::string whole_sentence(std::string sentence);

// The table of codes. `param` names the member that a kInvalidArgument or kUnsupported is about.
ApiError api_error(const Status& status, std::string_view param = "");

// {"error":{"message":...,"type":...,"param":...,"code":...}}
std::string error_body(const ApiError& error);

// The errors that more than one endpoint gives.
ApiError model_not_found(std::string_view name);
ApiError context_exceeded(int64_t context, int64_t prompt, int64_t answer, std::string_view prompt_noun,
                          std::string_view param);

}  // namespace nereid::server::openai
