// SPDX-License-Identifier: Apache-2.0
// Chat templates: the Jinja of Hugging Face models, rendered byte for byte as transformers' apply_chat_template does.
//
// A parsed template is immutable and may be rendered by many threads at once. Templates come from files of unknown
// makers: rendering reads nothing but its input and ends within the limits (heap.h) with an error that names the line.
#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/status.h"

namespace nereid::chat {

// Objects keep the order of their keys, which templates print.
using OrderedJson = nlohmann::ordered_json;

struct Ast;
struct Limits;

struct RenderInput {
  OrderedJson messages = OrderedJson::array();  // [{"role": ..., "content": ...}, ...]
  OrderedJson tools = nullptr;                  // null or a list of JSON schemas
  bool add_generation_prompt = false;
  std::optional<std::string> bos_token;  // nullopt: the model has none, the name stays undefined
  std::optional<std::string> eos_token;
  OrderedJson variables = nullptr;  // null or an object of more names: enable_thinking, documents, date_string ...
  std::optional<std::tm> now;       // for strftime_now; the local time when absent
};

class ChatTemplate {
 public:
  // Errors: kInvalidArgument or kUnsupported, "chat template, line N: ...".
  static Result<ChatTemplate> parse(std::string source);

  // The prompt. Errors: kInvalidArgument with exactly its message when the template calls raise_exception;
  // kExhausted past the limits; else kInvalidArgument, "chat template, line N: ...".
  Result<std::string> render(const RenderInput& input) const;
  Result<std::string> render(const RenderInput& input, const Limits& limits) const;

  const std::string& source() const;

 private:
  explicit ChatTemplate(std::shared_ptr<const Ast> ast) : ast_(std::move(ast)) {}
  std::shared_ptr<const Ast> ast_;
};

}  // namespace nereid::chat
